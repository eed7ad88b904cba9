#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace isochrone {

/// Bytes of the well-formed UTF-8 character at the start of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text);

/// The text as a terminal may show it. Control characters (but for line feed and tab)
/// become visible signs, e.g. ESC becomes U+241B; bytes that are no UTF-8, and marks
/// that turn the direction of writing, become U+FFFD. So no input file can move a
/// cursor, set a title or hide what stands in a message. Applied twice it changes
/// nothing.
std::string printable(std::string_view text);

}  // namespace isochrone
