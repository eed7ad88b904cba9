#include "place/plan_file/plan_file.h"

#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "place/plan_file/atomic_file.h"

namespace isochrone::place {
namespace {

namespace pb = google::protobuf;

// Tag of field 1000 with wire type 2 (two bytes of varint 8002), then the length 64.
constexpr std::string_view kHashHead = "\xC2\x3E\x40";
constexpr std::size_t kHashField = 3 + 64;

[[noreturn]] void refuse(const std::string& name, std::string message, std::string hint,
                         int line = 0, int column = 0) {
  throw InputError(
      {{Severity::kError, {name, line, column}, std::move(message), std::move(hint)}});
}

std::string serialised(const pb::Message& message) {
  std::string bytes;
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeWithCachedSizes(&coded);
  }
  return bytes;
}

bool has_hash(std::string_view bytes) {
  return bytes.size() >= kHashField &&
         bytes.substr(bytes.size() - kHashField, kHashHead.size()) == kHashHead;
}

void check_format(const plan::Plan& plan, const std::string& name) {
  if (plan.format() > kPlanFormat) {
    refuse(name,
           fmt::format("the plan has format {}, this program reads up to {}",
                       plan.format(), kPlanFormat),
           "use the release that wrote it, or a later one");
  }
  if (plan.format() == 0) refuse(name, "this is no plan: it names no format", "");
}

/// Keeps the first complaint of a text parser.
class FirstError : public pb::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    text = message;
    at_line = line + 1;
    at_column = column + 1;
  }
  std::string text;
  int at_line = 0;
  int at_column = 0;
};

plan::Plan parse_text(const std::string& text, const std::string& name) {
  FirstError error;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  plan::Plan plan;
  if (!parser.ParseFromString(text, &plan)) {
    refuse(name, "this is no plan in text format: " + error.text, "", error.at_line,
           error.at_column);
  }
  return plan;
}

plan::Plan parse_json(const std::string& text, const std::string& name) {
  plan::Plan plan;
  const pb::util::Status status = pb::util::JsonStringToMessage(text, &plan);
  if (!status.ok()) {
    // Its further lines draw a part of the text and a caret.
    const std::string message(status.message());
    refuse(name, "this is no plan in JSON: " + message.substr(0, message.find('\n')),
           "");
  }
  return plan;
}

}  // namespace

std::string plan_bytes(const plan::Plan& plan) {
  plan::Plan content = plan;
  content.clear_content_hash();
  content.ByteSizeLong();
  std::string bytes = serialised(content);
  const std::string hash = sha256(bytes);
  bytes += kHashHead;
  bytes += hash;
  return bytes;
}

plan::Plan parse_plan(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) refuse(name, "the plan is empty", "");
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    refuse(name, "no plan is larger than 2 GiB", "");
  }
  const bool whole = has_hash(bytes);
  if (whole) {
    const std::string_view content = bytes.substr(0, bytes.size() - kHashField);
    if (sha256(content) != bytes.substr(bytes.size() - 64)) {
      refuse(name,
             "the plan is damaged: its content does not have the hash it ends with",
             "write it again");
    }
  }
  plan::Plan plan;
  const bool parsed = plan.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (parsed) check_format(plan, name);
  if (!whole && plan.format() != 0) {
    refuse(name, "the plan is cut short: the hash at its end is missing",
           "write it again, or name a plan made by hand .textproto");
  }
  if (!parsed) refuse(name, "this is no plan: it cannot be read as protobuf", "");
  plan.clear_content_hash();
  return plan;
}

void write_plan(const plan::Plan& plan, const std::string& path) {
  write_file_atomically(path, plan_bytes(plan));
}

plan::Plan read_plan(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  const std::string bytes = read_file(path, kMostBytes);
  const bool text = path.ends_with(".textproto");
  if (bytes.find_first_not_of(" \t\r\n") == std::string::npos) {
    refuse(path, "the file is empty; a plan was expected",
           "was its writing interrupted?");
  }
  if (!text && !path.ends_with(".json")) return parse_plan(bytes, path);
  plan::Plan plan = text ? parse_text(bytes, path) : parse_json(bytes, path);
  check_format(plan, path);
  plan.clear_content_hash();
  return plan;
}

std::string to_json(const plan::Plan& plan) {
  pb::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const pb::util::Status status = pb::util::MessageToJsonString(plan, &text, options);
  INVARIANT(status.ok(), std::string(status.message()));
  return text;
}

std::string to_textproto(const plan::Plan& plan) {
  std::string text;
  pb::TextFormat::PrintToString(plan, &text);
  return text;
}

}  // namespace isochrone::place
