#pragma once

#include <cstddef>
#include <string>

namespace isochrone {

/// All bytes of a file of at most `most_bytes`. Throws InputError that names the path
/// if there is no such file, it is a directory, cannot be read or is larger (a device
/// may be endless).
std::string read_file(const std::string& path, std::size_t most_bytes);

/// The same, but of a larger file its first `most_bytes` bytes: for readers that say
/// themselves what is too large.
std::string read_start(const std::string& path, std::size_t most_bytes);

}  // namespace isochrone
