#pragma once

#include "base/hash.h"

namespace isochrone::place {

/// Writes the `seal` of a message of plan.proto: first 16 hex digits of the SHA-256 of
/// the message without it. No message has a map, so the bytes depend on nothing else.
template <class Message>
void seal(Message& message) {
  message.clear_seal();
  message.set_seal(sha256(message.SerializeAsString()).substr(0, 16));
}

}  // namespace isochrone::place
