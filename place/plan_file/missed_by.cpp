#include "place/plan_file/missed_by.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace isochrone::place {

std::string missed_by(std::span<const double> shares) {
  constexpr std::array kNames = {"network", "queue", "prefill", "decode"};
  std::vector<std::pair<long, std::string>> parts;
  for (std::size_t i = 0; i < std::min(shares.size(), kNames.size()); ++i) {
    const long percent = std::lround(100 * shares[i]);
    if (percent > 0) {
      parts.emplace_back(-percent, fmt::format("{} {}", kNames[i], percent));
    }
  }
  std::ranges::stable_sort(parts, {}, [](const auto& part) { return part.first; });
  std::vector<std::string> words;
  for (const auto& [rank, word] : parts) words.push_back(word);
  return words.empty() ? "" : fmt::format("{} %", fmt::join(words, ", "));
}

std::string missed_by(const plan::Cell& cell) {
  return missed_by(
      {cell.missed_by().data(), static_cast<std::size_t>(cell.missed_by_size())});
}

}  // namespace isochrone::place
