#include "sim/law.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include <boost/math/special_functions/erf.hpp>

namespace isochrone::sim {
namespace {

constexpr double kZ99 = 2.3263478740408408;  // normal quantile at .99

double normal_quantile(double p) {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * p);
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double cell_middle(std::size_t cell) {
  return (static_cast<double>(cell) + 0.5) / static_cast<double>(IntegerLaw::kCells);
}

std::int64_t whole(double value, std::int64_t cap) {
  if (!(value < static_cast<double>(cap))) return cap;
  return std::clamp<std::int64_t>(std::llround(value), 1, cap);
}

template <class Quantile>
std::vector<std::int64_t> tabulate(std::int64_t cap, Quantile&& quantile) {
  std::vector<std::int64_t> cells(IntegerLaw::kCells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = whole(quantile(cell_middle(i)), cap);
  }
  return cells;
}

}  // namespace

IntegerLaw::IntegerLaw(std::vector<std::int64_t> sorted_cells)
    : cells_(std::move(sorted_cells)) {
  if (cells_.size() != kCells || !std::is_sorted(cells_.begin(), cells_.end()) ||
      cells_.front() < 1) {
    throw std::invalid_argument("a law has 4096 sorted cells of at least 1");
  }
  double sum = 0;
  for (const std::int64_t cell : cells_) sum += static_cast<double>(cell);
  mean_ = sum / static_cast<double>(kCells);
}

IntegerLaw IntegerLaw::constant(std::int64_t value) {
  return IntegerLaw(std::vector<std::int64_t>(kCells, value));
}

bool IntegerLaw::lognormal_exists(double mean, double p99) {
  return mean > 0 && p99 > mean && 2 * std::log(p99 / mean) <= kZ99 * kZ99;
}

IntegerLaw IntegerLaw::lognormal(double mean, double p99, std::int64_t cap) {
  if (!lognormal_exists(mean, p99)) {
    throw std::invalid_argument("lognormal needs mean < p99 <= 14.9 * mean");
  }
  const double spread = std::log(p99 / mean);
  const double sigma = kZ99 - std::sqrt(kZ99 * kZ99 - 2 * spread);
  const double mu = std::log(mean) - sigma * sigma / 2;
  auto cells = tabulate(
      cap, [&](double p) { return std::exp(mu + sigma * normal_quantile(p)); });
  const double last_edge = normal_quantile(1.0 - 1.0 / static_cast<double>(kCells));
  const double tail_mean =
      mean * normal_cdf(sigma - last_edge) * static_cast<double>(kCells);
  cells.back() = std::max(cells[kCells - 2], whole(tail_mean, cap));
  return IntegerLaw(std::move(cells));
}

IntegerLaw IntegerLaw::uniform(double low, double high, std::int64_t cap) {
  if (!(low <= high)) throw std::invalid_argument("uniform needs low <= high");
  return IntegerLaw(tabulate(cap, [&](double p) { return low + (high - low) * p; }));
}

}  // namespace isochrone::sim
