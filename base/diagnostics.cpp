#include "base/diagnostics.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "base/utf8.h"

namespace isochrone {
namespace {

std::string read_source(const std::string& file) {
  // A pipe has been read already and would be waited for; a device may have no end.
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return "";
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return in ? text.str() : "";
}

std::string_view line_of(std::string_view source, int line) {
  for (int i = 1; i < line; ++i) {
    const auto end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  source = source.substr(0, source.find('\n'));
  if (source.ends_with('\r')) source.remove_suffix(1);
  return source;
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// Whether the text begins with the word, whatever the case.
bool begins_alike(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::ranges::equal(text.substr(0, word.size()), word, {}, lower, lower);
}

std::string render_all(std::vector<Diagnostic>& diagnostics) {
  std::ranges::stable_sort(diagnostics, {}, [](const Diagnostic& d) {
    return std::tuple(d.position.file, d.position.line, d.position.column);
  });
  std::map<std::string, std::string> sources;
  std::string text;
  for (const Diagnostic& d : diagnostics) {
    if (!text.empty()) text += '\n';
    if (d.position.line == 0) {
      text += render(d, "");
      continue;
    }
    auto [it, fresh] = sources.try_emplace(d.position.file);
    if (fresh) it->second = read_source(d.position.file);
    text += render(d, it->second);
  }
  return text;
}

// Optimal string alignment distance: edits and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1,
                                          std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

void Diagnostics::error(SourcePosition position, std::string message,
                        std::string hint) {
  entries_.push_back(
      {Severity::kError, std::move(position), std::move(message), std::move(hint)});
}

void Diagnostics::warning(SourcePosition position, std::string message,
                          std::string hint) {
  entries_.push_back(
      {Severity::kWarning, std::move(position), std::move(message), std::move(hint)});
}

bool Diagnostics::has_errors() const {
  return std::ranges::any_of(
      entries_, [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

void Diagnostics::throw_if_errors() const {
  if (has_errors()) throw InputError(entries_);
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(render_all(diagnostics)),
      diagnostics_(std::move(diagnostics)) {}

std::string render(const Diagnostic& d, std::string_view source) {
  std::string text = printable(d.position.file);
  if (d.position.line > 0) {
    text += fmt::format(":{}:{}", d.position.line, d.position.column);
  }
  if (!text.empty()) text += ": ";
  text += d.severity == Severity::kError ? "error: " : "warning: ";
  text += printable(d.message);
  if (!d.hint.empty()) text += "; " + printable(d.hint);
  const std::string_view line =
      d.position.line > 0 ? line_of(source, d.position.line) : std::string_view{};
  if (line.empty()) return text;
  // A caret under a line of a megabyte helps nobody: show the part around it.
  constexpr std::size_t kShown = 160;
  const auto column = static_cast<std::size_t>(std::max(d.position.column, 1)) - 1;
  std::size_t from = column > kShown / 2 ? column - kShown / 2 : 0;
  while (from < line.size() && continues_character(line[from])) ++from;
  std::string_view part =
      from < line.size() ? line.substr(from, kShown) : std::string_view{};
  while (from + part.size() < line.size() && !part.empty() &&
         continues_character(line[from + part.size()])) {
    part.remove_suffix(1);
  }
  std::string caret;
  for (std::size_t i = 0; i + from < column; ++i) {
    if (i < part.size() && continues_character(part[i])) continue;
    caret += i < part.size() && part[i] == '\t' ? '\t' : ' ';
  }
  return text + fmt::format("\n  {}\n  {}^", printable(part), caret);
}

std::optional<std::string> nearest(std::string_view word,
                                   std::span<const std::string> known) {
  if (word.size() > 64) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > word.size() + best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    // Sharing nothing is no likeness: "qa" is not "de".
    if (distance < best_distance &&
        distance < std::max(word.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  if (const auto near = nearest(word, known)) {
    return fmt::format("did you mean \"{}\"?", *near);
  }
  constexpr std::size_t kMost = 3;
  constexpr std::size_t kShortest = 3;
  std::vector<std::string> longer;
  for (const std::string& candidate : known) {
    if (word.size() < kShortest || longer.size() == kMost) break;
    if (begins_alike(candidate, word)) longer.push_back("\"" + candidate + "\"");
  }
  if (longer.empty()) return "";
  const std::string last = longer.back();
  longer.pop_back();
  return fmt::format("did you mean {}{}{}?", fmt::join(longer, ", "),
                     longer.empty() ? "" : " or ", last);
}

void invariant_failed(const char* file, int line, const char* condition,
                      const std::string& detail) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s (%s)\n", file, line, condition,
               detail.c_str());
  std::abort();
}

}  // namespace isochrone
