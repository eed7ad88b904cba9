#pragma once

#include <string>
#include <string_view>

namespace isochrone::place {

/// Writes a file so that a reader sees the old content or the new one, never a part: a
/// temporary name beside it, fsync, rename, fsync of the folder. A link is followed;
/// what is not a regular file (a pipe, /dev/stdout) is written directly.
///
/// Throws std::system_error that names the path. The file that stood there is then
/// untouched and no temporary file is left.
void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace isochrone::place
