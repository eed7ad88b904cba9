#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <google/protobuf/descriptor.h>

namespace isochrone::scenarios {

/// The field that a path as `demand[0].users` or `demand[consumers].users` leads to;
/// what stands in brackets is not looked at. A key of a map stands for the map, one of
/// objectives for the objectives. nullptr if the path leads nowhere.
const google::protobuf::FieldDescriptor* field_at(std::string_view path);

/// Every path of the format without brackets, with its field.
std::map<std::string, const google::protobuf::FieldDescriptor*> all_fields();

/// The path of the format that is nearest to one that leads nowhere: that of the same
/// key at another place, or one spelt alike. Brackets of `path` are kept; where a list
/// is entered without, `[0]` is shown.
std::optional<std::string> nearest_field(std::string_view path);

/// `did you mean "PATH"?`, or "" if nearest_field() finds none.
std::string did_you_mean_field(std::string_view path);

}  // namespace isochrone::scenarios
