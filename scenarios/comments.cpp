#include "scenarios/comments.h"

#include <map>
#include <vector>

#include <google/protobuf/descriptor.pb.h>

#include "base/diagnostics.h"

extern const unsigned char isochrone_scenario_comments[];
extern const unsigned long isochrone_scenario_comments_size;

namespace isochrone::scenarios {
namespace {

using Path = std::vector<int>;

std::string one_paragraph(const std::string& comment) {
  std::string text;
  for (const char c : comment) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::map<Path, std::string> read_comments() {
  google::protobuf::FileDescriptorSet set;
  const bool parsed = set.ParseFromArray(
      isochrone_scenario_comments, static_cast<int>(isochrone_scenario_comments_size));
  INVARIANT(parsed && set.file_size() == 1, "the embedded descriptor set");
  std::map<Path, std::string> comments;
  for (const auto& location : set.file(0).source_code_info().location()) {
    if (!location.has_leading_comments()) continue;
    comments[{location.path().begin(), location.path().end()}] =
        one_paragraph(location.leading_comments());
  }
  return comments;
}

std::string comment_at(const Path& path) {
  static const std::map<Path, std::string> comments = read_comments();
  const auto found = comments.find(path);
  return found == comments.end() ? "" : found->second;
}

// Numbers of descriptor.proto: a file's messages are field 4; a message's fields are 2,
// its nested messages 3.
Path path_of(const google::protobuf::Descriptor& message) {
  const auto* outer = message.containing_type();
  if (outer == nullptr) return {4, message.index()};
  Path path = path_of(*outer);
  path.insert(path.end(), {3, message.index()});
  return path;
}

}  // namespace

std::string comment_of(const google::protobuf::Descriptor& message) {
  return comment_at(path_of(message));
}

std::string comment_of(const google::protobuf::FieldDescriptor& field) {
  Path path = path_of(*field.containing_type());
  path.insert(path.end(), {2, field.index()});
  return comment_at(path);
}

}  // namespace isochrone::scenarios
