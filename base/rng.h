#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace isochrone {

/// Counter-based random stream (Philox4x64-10, Salmon et al., SC 2011). What a stream
/// yields depends on the root seed, its name and its index, never on who drew before.
/// Copying a stream copies its position. Not shared between threads.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  /// An independent stream under this one.
  Rng stream(std::string_view name, std::uint64_t index = 0) const;

  std::uint64_t next();
  /// Uniform on the open interval (0, 1): never 0, never 1.
  double uniform();
  /// Uniform on 0 .. bound - 1; `bound` > 0. Unbiased to 2^-64 * bound.
  std::uint64_t below(std::uint64_t bound);
  /// Mean 1.
  double exponential();
  double normal();
  /// Mean shape * scale; shape > 0 (Marsaglia and Tsang, TOMS 2000).
  double gamma(double shape, double scale);

 private:
  Rng(std::uint64_t key0, std::uint64_t key1) : key_{key0, key1} {}

  std::array<std::uint64_t, 2> key_;
  std::uint64_t counter_ = 0;
  std::array<std::uint64_t, 4> block_{};
  std::size_t used_ = 4;
};

}  // namespace isochrone
