#include "base/rng.h"

#include <cmath>
#include <numbers>

#include <Random123/philox.h>

namespace isochrone {
namespace {

using Philox = r123::Philox4x64;

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

}  // namespace

Rng::Rng(std::uint64_t seed) : key_{seed, 0} {}

Rng Rng::stream(std::string_view name, std::uint64_t index) const {
  // The counter's last word is 1 here and 0 in next(): keys never collide with draws.
  const auto key = Philox{}({{fnv1a(name), index, 0, 1}}, {{key_[0], key_[1]}});
  return Rng(key[0], key[1]);
}

std::uint64_t Rng::next() {
  if (used_ == block_.size()) {
    const auto block = Philox{}({{counter_++, 0, 0, 0}}, {{key_[0], key_[1]}});
    for (std::size_t i = 0; i < block_.size(); ++i) block_[i] = block[i];
    used_ = 0;
  }
  return block_[used_++];
}

double Rng::uniform() { return (static_cast<double>(next() >> 12U) + 0.5) * 0x1.0p-52; }

std::uint64_t Rng::below(std::uint64_t bound) {
  __extension__ using Wide128 = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide128>(next()) * bound) >> 64U);
}

double Rng::exponential() { return -std::log(uniform()); }

double Rng::normal() {
  // Box-Muller, one value per call: a stream's position stays easy to reason about.
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

double Rng::gamma(double shape, double scale) {
  if (shape < 1.0) {
    const double boost = std::pow(uniform(), 1.0 / shape);
    return boost * gamma(shape + 1.0, scale);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal();
    const double v = std::pow(1.0 + c * x, 3);
    if (v <= 0.0) continue;
    if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
      return d * v * scale;
    }
  }
}

}  // namespace isochrone
