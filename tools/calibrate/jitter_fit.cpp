// Fits the law of jitter to measured round trips:
//
//   isochrone_jitter_fit [--skip-from PLACE]... [--below-ms MS] [--shape SHAPE] RTT.csv
//
// --below-ms takes paths of shorter round trips alone. --shape is for files whose least
// value is a mean too, which tell nothing about the shape. RTT.csv has columns
// from,to,rtt_ms_p50,rtt_ms_min,mdev_ms: the middle, the least and the mean deviation
// of the round trips of a path. The result are the constants of geo/jitter.h and
// geo/jitter.cpp: the shape of a Gamma law above the floor, whose square root is the
// ratio of its mean to its deviation (the median of the paths is taken); the deviation
// by quantile of the paths; and quantiles of the mixture over paths, by halving.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <boost/math/special_functions/gamma.hpp>
#include <fmt/format.h>

#include "base/csv.h"
#include "tools/calibrate/program.h"

namespace isochrone::calibrate {
namespace {

constexpr int kStrata = 400;
constexpr double kLongestMs = 10'000;

/// Numbers in rising order.
using Sorted = std::vector<double>;

double at_share(const Sorted& values, double share) {
  const double rank = share * static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(std::lround(rank))];
}

struct Paths {
  Sorted deviation_ms;
  Sorted mean_over_deviation;
};

struct Request {
  std::set<std::string> skipped;
  double below_ms = kLongestMs;
  std::optional<double> shape;
  std::vector<std::string> files;
};

double positive(const std::string& word) {
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || !(value > 0)) {
    throw std::invalid_argument("\"" + word + "\" is no number above 0");
  }
  return value;
}

Request read_request(const std::vector<std::string>& words) {
  Request request;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    if (words[i] == "--skip-from" && more) {
      request.skipped.insert(words[++i]);
    } else if (words[i] == "--below-ms" && more) {
      request.below_ms = positive(words[++i]);
    } else if (words[i] == "--shape" && more) {
      request.shape = positive(words[++i]);
    } else {
      request.files.push_back(words[i]);
    }
  }
  if (request.files.size() != 1) {
    throw std::invalid_argument(
        "usage: isochrone_jitter_fit [--skip-from PLACE]... [--below-ms MS] "
        "[--shape SHAPE] RTT.csv");
  }
  return request;
}

Paths read_paths(const Request& request) {
  const std::string& file = request.files.front();
  const CsvTable table =
      CsvTable::read(file, {"from", "to", "rtt_ms_p50", "rtt_ms_min", "mdev_ms"});
  Diagnostics faults;
  Paths paths;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string& from = table.text(row, "from");
    if (from == table.text(row, "to") || request.skipped.contains(from)) continue;
    const auto number = [&](const char* column) {
      return table.number_in(row, column, 0, kLongestMs, faults);
    };
    const double deviation_ms = number("mdev_ms");
    const double rtt_ms = number("rtt_ms_p50");
    const double mean_ms = rtt_ms - number("rtt_ms_min");
    if (rtt_ms >= request.below_ms) continue;
    paths.deviation_ms.push_back(deviation_ms);
    if (deviation_ms > 0) paths.mean_over_deviation.push_back(mean_ms / deviation_ms);
  }
  faults.throw_if_errors();
  if (paths.mean_over_deviation.empty()) {
    throw std::invalid_argument(file + " tells nothing about jitter");
  }
  std::ranges::sort(paths.deviation_ms);
  std::ranges::sort(paths.mean_over_deviation);
  return paths;
}

/// P(jitter <= t) on a path drawn at random.
double share_within(const Sorted& strata_ms, double shape, double t_ms) {
  double sum = 0;
  for (const double deviation_ms : strata_ms) {
    const double scale_ms = deviation_ms / std::sqrt(shape);
    sum += scale_ms > 0 ? boost::math::gamma_p(shape, t_ms / scale_ms) : 1;
  }
  return sum / static_cast<double>(strata_ms.size());
}

double mixture_quantile_ms(const Sorted& strata_ms, double shape, double share) {
  double low = 0;
  double high = kLongestMs;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (share_within(strata_ms, shape, middle) < share ? low : high) = middle;
  }
  return high;
}

int run(const std::vector<std::string>& words) {
  const Request request = read_request(words);
  const Paths paths = read_paths(request);
  const double ratio = at_share(paths.mean_over_deviation, 0.5);
  const double shape = request.shape.value_or(ratio * ratio);
  std::cout << fmt::format("paths {}\nshape {:.2f}\n", paths.deviation_ms.size(),
                           shape);
  for (const double share : {0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99}) {
    std::cout << fmt::format("deviation {:.2f} {:.3f}\n", share,
                             at_share(paths.deviation_ms, share));
  }
  Sorted strata_ms;
  for (int i = 0; i < kStrata; ++i) {
    strata_ms.push_back(at_share(paths.deviation_ms, (i + 0.5) / kStrata));
  }
  for (const double share :
       {0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9999}) {
    std::cout << fmt::format("jitter {:g} {:.4f}\n", share,
                             mixture_quantile_ms(strata_ms, shape, share));
  }
  return 0;
}

}  // namespace
}  // namespace isochrone::calibrate

int main(int count, char** values) {
  return isochrone::calibrate::run_program(count, values, isochrone::calibrate::run);
}
