#pragma once

#include <string>

#include <google/protobuf/descriptor.h>

namespace isochrone::scenarios {

/// The comment above a message or a field of scenario.proto, in one paragraph; "" if
/// there is none.
std::string comment_of(const google::protobuf::Descriptor& message);
std::string comment_of(const google::protobuf::FieldDescriptor& field);

}  // namespace isochrone::scenarios
