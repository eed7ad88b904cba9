#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "scenarios/spec_reader.h"

namespace isochrone::scenarios {
namespace {

constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stop == end) return value;
  // 1e7 and 512.0 are whole numbers too.
  const auto number = parse_number(text);
  if (!number || std::abs(*number) > kExactIntegers) return std::nullopt;
  if (std::nearbyint(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

bool is_digits(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F;
  });
}

}  // namespace

std::optional<SpecReader::Scalar> SpecReader::read_scalar(
    const Value& value, const Field& field, const spec::FieldFormat& format) {
  switch (field.cpp_type()) {
    case Field::CPPTYPE_DOUBLE:
      if (const auto number = read_number(value, format)) return Scalar{*number};
      return std::nullopt;
    case Field::CPPTYPE_INT32:
    case Field::CPPTYPE_INT64:
    case Field::CPPTYPE_UINT64:
      return read_whole(value, field, format);
    case Field::CPPTYPE_BOOL:
      return read_bool(value);
    case Field::CPPTYPE_STRING:
      if (auto text = read_text(value, format)) return Scalar{std::move(*text)};
      return std::nullopt;
    default:
      INVARIANT(false, "a field of a type without a reader: " + field.full_name());
  }
}

std::optional<double> SpecReader::read_number(const Value& value,
                                              const spec::FieldFormat& format) {
  if (!expect(value, YamlNode::Kind::kText, "a number")) return std::nullopt;
  const auto number = parse_number(value.node.text);
  if (value.node.quoted || !number) {
    const bool infinite = value.node.text == ".inf" || value.node.text == "-.inf" ||
                          value.node.text == ".nan";
    fault(value.node.position,
          fmt::format("{} is {}, expected a {}number", value.path, describe(value.node),
                      infinite ? "finite " : ""));
    return std::nullopt;
  }
  if (!std::isfinite(*number)) {
    fault(value.node.position, fmt::format("{} is {}, expected a finite number",
                                           value.path, describe(value.node)));
    return std::nullopt;
  }
  if (!in_range(format, *number)) {
    fault(value.node.position, fmt::format("{} is {}, expected {}", value.path,
                                           value.node.text, range_text(format)));
    return std::nullopt;
  }
  return *number == 0 ? 0.0 : *number;  // -0 would be written differently
}

std::optional<SpecReader::Scalar> SpecReader::read_whole(
    const Value& value, const Field& field, const spec::FieldFormat& format) {
  if (!expect(value, YamlNode::Kind::kText, "a whole number")) return std::nullopt;
  const auto whole = value.node.quoted ? std::nullopt : parse_whole(value.node.text);
  // Fields without a range are not larger than their type and never negative.
  spec::FieldFormat range = format;
  if (!range.has_min()) range.set_min(0);
  const bool narrow = field.cpp_type() == Field::CPPTYPE_INT32;
  if (!range.has_max()) range.set_max(narrow ? 2147483647.0 : kExactIntegers);
  // A whole number that no integer holds is out of range, and no other mistake.
  if (!whole && (value.node.quoted || !is_digits(value.node.text))) {
    fault(value.node.position, fmt::format("{} is {}, expected a whole number",
                                           value.path, describe(value.node)));
    return std::nullopt;
  }
  if (!whole || !in_range(range, static_cast<double>(*whole))) {
    fault(value.node.position, fmt::format("{} is {}, expected {}", value.path,
                                           value.node.text, range_text(range)));
    return std::nullopt;
  }
  if (narrow) return Scalar{static_cast<std::int32_t>(*whole)};
  if (field.cpp_type() == Field::CPPTYPE_INT64) return Scalar{*whole};
  return Scalar{static_cast<std::uint64_t>(*whole)};
}

std::optional<SpecReader::Scalar> SpecReader::read_bool(const Value& value) {
  if (!expect(value, YamlNode::Kind::kText, "true or false")) return std::nullopt;
  if (!value.node.quoted && value.node.text == "true") return Scalar{true};
  if (!value.node.quoted && value.node.text == "false") return Scalar{false};
  fault(value.node.position, fmt::format("{} is {}, expected true or false", value.path,
                                         describe(value.node)));
  return std::nullopt;
}

std::optional<std::string> SpecReader::read_text(const Value& value,
                                                 const spec::FieldFormat& format) {
  if (!expect(value, YamlNode::Kind::kText, "a text")) return std::nullopt;
  const std::string& text = value.node.text;
  if (!check_word(value.node.position, value.path, text, format)) return std::nullopt;
  return text;
}

/// Whether a text is what its format allows; reports it if not. `path` is how the
/// message names it.
bool SpecReader::check_word(const SourcePosition& at, const std::string& path,
                            const std::string& text, const spec::FieldFormat& format) {
  if (text.find_first_not_of(' ') == std::string::npos) {
    fault(at, fmt::format("{} is an empty text", path));
    return false;
  }
  if (has_control_characters(text)) {
    fault(at, fmt::format("{} holds control characters", path));
    return false;
  }
  YamlNode shown;
  shown.kind = YamlNode::Kind::kText;
  shown.text = text;
  const std::vector<std::string> words = words_of(format);
  if (!words.empty() && std::ranges::count(words, text) == 0) {
    fault(
        at,
        fmt::format("{} is {}, expected {}", path, describe(shown), choice_text(words)),
        did_you_mean(text, words));
    return false;
  }
  const auto wrong = vocabulary_.fault(format.kind(), text);
  if (!wrong) return true;
  fault(at, fmt::format("{} is {}, {}", path, describe(shown), wrong->reason),
        wrong->hint);
  return false;
}

void SpecReader::set_scalar(Message& message, const Field& field,
                            const Scalar& scalar) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&message, &field, std::get<double>(scalar));
    case Field::CPPTYPE_INT32:
      return reflection.SetInt32(&message, &field, std::get<std::int32_t>(scalar));
    case Field::CPPTYPE_INT64:
      return reflection.SetInt64(&message, &field, std::get<std::int64_t>(scalar));
    case Field::CPPTYPE_UINT64:
      return reflection.SetUInt64(&message, &field, std::get<std::uint64_t>(scalar));
    case Field::CPPTYPE_BOOL:
      return reflection.SetBool(&message, &field, std::get<bool>(scalar));
    case Field::CPPTYPE_STRING:
      return reflection.SetString(&message, &field, std::get<std::string>(scalar));
    default:
      INVARIANT(false, "a field of a type without a reader: " + field.full_name());
  }
}

void SpecReader::add_scalar(Message& message, const Field& field,
                            const Scalar& scalar) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_DOUBLE:
      return reflection.AddDouble(&message, &field, std::get<double>(scalar));
    case Field::CPPTYPE_INT32:
      return reflection.AddInt32(&message, &field, std::get<std::int32_t>(scalar));
    case Field::CPPTYPE_STRING:
      return reflection.AddString(&message, &field, std::get<std::string>(scalar));
    default:
      INVARIANT(false, "a list of a type without a reader: " + field.full_name());
  }
}

}  // namespace isochrone::scenarios
