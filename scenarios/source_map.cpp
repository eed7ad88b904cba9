#include <fmt/format.h>

#include "scenarios/scenario.h"

namespace isochrone::scenarios {

void SourceMap::put(std::string path, SourcePosition position) {
  positions_.insert_or_assign(std::move(path), std::move(position));
}

SourcePosition SourceMap::at(std::string_view path) const {
  while (true) {
    const auto found = positions_.find(path);
    if (found != positions_.end()) return found->second;
    if (path.empty()) return {};
    // `a.b[2]` -> `a.b` -> `a` -> ``
    const auto cut = path.find_last_of(".[");
    path = cut == std::string_view::npos ? std::string_view{} : path.substr(0, cut);
  }
}

std::string SourceMap::cite(std::string_view path) const {
  const SourcePosition position = at(path);
  if (position.line == 0) return fmt::format("{}: {}", position.file, path);
  std::string_view rest = source_;
  for (int line = 1; line < position.line; ++line) {
    const auto end = rest.find('\n');
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  while (rest.ends_with('\r') || rest.ends_with(' ')) rest.remove_suffix(1);
  return fmt::format("{}:{}: {}", position.file, position.line, rest);
}

}  // namespace isochrone::scenarios
