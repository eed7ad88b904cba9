#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochrone::spec {
class Law;
}
namespace isochrone::scenarios {
struct Scenario;
}

namespace isochrone::sim {

/// What a law of a scenario describes: decides which column of a request trace is read.
enum class Quantity { kPrompt, kAnswer, kOther };

/// Inverse CDF of a law of lengths (tokens) or times (ns), tabulated: draws are table
/// look-ups, the same on every machine. Values are positive integers.
class IntegerLaw {
 public:
  /// Cell i stands for probabilities i / 4096 .. (i + 1) / 4096.
  static constexpr std::size_t kCells = 4096;

  /// From the scenario's form; `unit` multiplies (1 for tokens, 1e6 for ms -> ns).
  /// Values are rounded, at least 1 and at most `cap`. A trace is read by its column of
  /// `quantity`. Throws InputError for a file that cannot be read or holds no value,
  /// and for a lognormal whose p99 does not fit its mean.
  IntegerLaw(const spec::Law& law, double unit, std::int64_t cap,
             const scenarios::Scenario& scenario, Quantity quantity = Quantity::kOther);
  /// Exactly kCells values, sorted, each at least 1; throws std::invalid_argument else.
  explicit IntegerLaw(std::vector<std::int64_t> sorted_cells);
  static IntegerLaw constant(std::int64_t value);
  /// The lognormal with this mean and 99th percentile, of two the less spread. The last
  /// cell carries the mean of its tail. Throws std::invalid_argument unless it exists.
  static IntegerLaw lognormal(double mean, double p99, std::int64_t cap);
  /// mean < p99 <= exp(z99^2 / 2) * mean, about 14.9 means.
  static bool lognormal_exists(double mean, double p99);
  static IntegerLaw uniform(double low, double high, std::int64_t cap);

  /// `u` in (0, 1).
  std::int64_t at(double u) const {
    return cells_[static_cast<std::size_t>(u * static_cast<double>(kCells))];
  }
  double mean() const { return mean_; }
  const std::vector<std::int64_t>& cells() const { return cells_; }
  std::int64_t largest() const { return cells_.back(); }

 private:
  std::vector<std::int64_t> cells_;
  double mean_ = 0;
};

}  // namespace isochrone::sim
