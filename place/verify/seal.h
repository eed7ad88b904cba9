#pragma once

#include <string>

#include "base/hash.h"

namespace isochrone::verify {

/// What the `seal` of a message of plan.proto must be: first 16 hex digits of the
/// SHA-256 of the message without it.
template <class Message>
std::string seal_of(Message message) {
  message.clear_seal();
  return sha256(message.SerializeAsString()).substr(0, 16);
}

}  // namespace isochrone::verify
