#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "geo/network.h"

namespace isochrone::geo {
namespace {

const char* word(RttBasis basis) {
  switch (basis) {
    case RttBasis::kModelled:
      return "modelled";
    case RttBasis::kMeasured:
      return "measured";
    case RttBasis::kSatellite:
      return "by satellite";
  }
  return "";
}

}  // namespace

RttMatrix::RttMatrix(std::size_t rows, std::size_t columns,
                     std::vector<RttEntry> row_major)
    : rows_(rows), columns_(columns), entries_(std::move(row_major)) {
  if (entries_.size() != rows * columns) {
    throw std::invalid_argument(fmt::format("{} RTTs do not fill {} rows of {}",
                                            entries_.size(), rows, columns));
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].rtt < Micros{0}) {
      throw std::invalid_argument(fmt::format(
          "RTT from row {} to column {} is negative", i / columns, i % columns));
    }
  }
}

std::string to_text(RttBasis basis) { return word(basis); }

std::string to_text(const Route& route) {
  std::string text;
  for (const Hop& hop : route.hops) {
    text += fmt::format("{:>9.3f} ms {:>8.0f} km  {:<28} {} - {}\n", to_ms(hop.rtt),
                        hop.km, hop.what, hop.from, hop.to);
  }
  return text + fmt::format("{:>9.3f} ms {:>8.0f} km  {}; great circle {:.0f} km\n",
                            to_ms(route.total.rtt), route.path_km(),
                            word(route.total.basis), route.great_circle_km);
}

double Route::path_km() const {
  double km = 0;
  for (const Hop& hop : hops) km += hop.km;
  return km;
}

}  // namespace isochrone::geo
