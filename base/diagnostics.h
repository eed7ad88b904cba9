#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace isochrone {

/// Where in a file something stands. Lines and columns count from 1; 0 = not known.
struct SourcePosition {
  std::string file;
  int line = 0;
  int column = 0;
};

enum class Severity { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  SourcePosition position;
  std::string message;
  std::string hint;  ///< e.g. `did you mean "residency"?`; may be empty
};

/// Collects every fault of an input, so that a user sees all of them at once.
class Diagnostics {
 public:
  void error(SourcePosition position, std::string message, std::string hint = "");
  void warning(SourcePosition position, std::string message, std::string hint = "");

  bool has_errors() const;
  std::span<const Diagnostic> all() const { return entries_; }

  /// Throws InputError with everything collected, if there is any error.
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> entries_;
};

/// The input is wrong. what() is the text that a user sees: one paragraph per fault,
/// `file:line:col: error: message; hint`, then the line and a caret where the file can
/// be read. Ordered by position.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  std::span<const Diagnostic> diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// One fault as text. `source` is the text of the file (empty: no line and caret).
std::string render(const Diagnostic& diagnostic, std::string_view source);

/// The known word nearest to `word` (Damerau-Levenshtein, at most a third of its length
/// or 2, ties to the first); nullopt if none is near.
std::optional<std::string> nearest(std::string_view word,
                                   std::span<const std::string> known);

/// `did you mean "x"?`; where none is near, up to three known words that begin like it
/// ("H100" of "H100-80GB-SXM"), whatever the case; "" if there are none.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

/// We are wrong: prints file:line, the condition and `detail`, then aborts.
[[noreturn]] void invariant_failed(const char* file, int line, const char* condition,
                                   const std::string& detail);

}  // namespace isochrone

#define INVARIANT(condition, detail)                                           \
  do {                                                                         \
    if (!(condition)) [[unlikely]]                                             \
      ::isochrone::invariant_failed(__FILE__, __LINE__, #condition, (detail)); \
  } while (false)
