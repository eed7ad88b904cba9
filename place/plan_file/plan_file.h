#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "place/plan.pb.h"

namespace isochrone::place {

/// The newest version of the plan format that this program reads, and the one it
/// writes.
inline constexpr std::uint32_t kPlanFormat = 1;

/// The bytes of a plan file: protobuf, fields in order, the hash of the content last.
/// Equal plans give equal bytes.
std::string plan_bytes(const plan::Plan& plan);

/// The plan that the bytes hold. Throws InputError that names `name` where they are
/// empty, cut, damaged, no plan at all, or of a newer format. `content_hash` is checked
/// and then emptied.
plan::Plan parse_plan(std::string_view bytes, const std::string& name);

/// Writes plan_bytes() atomically (write_file_atomically). Throws std::system_error.
void write_plan(const plan::Plan& plan, const std::string& path);

/// Reads a plan file. One that ends in `.textproto` or `.json` is read as text, so that
/// a plan can be written by hand; it needs no hash. Throws InputError.
plan::Plan read_plan(const std::string& path);

/// Canonical JSON of protobuf with the field names of plan.proto. 64-bit integers are
/// strings there, so nothing is rounded; any protobuf library reads it back.
std::string to_json(const plan::Plan& plan);

/// Text format of protobuf; read_plan() reads it back.
std::string to_textproto(const plan::Plan& plan);

}  // namespace isochrone::place
