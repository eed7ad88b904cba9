#include "base/utf8.h"

namespace isochrone {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

std::size_t length_of_lead(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

// Overlong forms, surrogates and code points above U+10FFFF show in the second byte.
bool second_byte_fits(unsigned lead, unsigned second) {
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second < 0xA0;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second < 0x90;
  return true;
}

/// U+0080 to U+009F, which terminals obey too, and the marks of direction: U+061C,
/// U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
bool is_obeyed(std::string_view character) {
  if (character.size() == 2) {
    return (byte_at(character, 0) == 0xC2 && byte_at(character, 1) < 0xA0) ||
           character == "\xD8\x9C";
  }
  if (character.size() != 3 || byte_at(character, 0) != 0xE2) return false;
  const unsigned last = byte_at(character, 2);
  if (byte_at(character, 1) == 0x80) {
    return last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE);
  }
  return byte_at(character, 1) == 0x81 && last >= 0xA6 && last <= 0xA9;
}

/// The control pictures stand at U+2400 in the order of the characters; DEL is U+2421.
std::string picture_of(unsigned control) {
  const unsigned offset = control == 0x7F ? 0x21 : control;
  return {'\xE2', '\x90', static_cast<char>(0x80 + offset)};
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned lead = byte_at(text, 0);
  const std::size_t length = length_of_lead(lead);
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80U) return 0;
  }
  return length == 1 || second_byte_fits(lead, byte_at(text, 1)) ? length : 0;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const unsigned first = byte_at(text, 0);
    if (length == 0 || is_obeyed(character)) {
      shown += kReplacement;
    } else if ((first < 0x20 && first != '\n' && first != '\t') || first == 0x7F) {
      shown += picture_of(first);
    } else {
      shown += character;
    }
    text.remove_prefix(character.size());
  }
  return shown;
}

}  // namespace isochrone
