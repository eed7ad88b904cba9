#include "base/read_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/diagnostics.h"

namespace isochrone {
namespace {

void refuse(const std::string& path, const std::string& message) {
  Diagnostics faults;
  faults.error({path, 0, 0}, message);
  faults.throw_if_errors();
}

}  // namespace

std::string read_start(const std::string& path, std::size_t most_bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(path, "no such file");
  if (std::filesystem::is_directory(status)) refuse(path, "is a directory");
  std::ifstream in(path, std::ios::binary);
  std::string bytes;
  constexpr std::size_t kStep = 1 << 16;
  while (in && bytes.size() < most_bytes) {
    const std::size_t had = bytes.size();
    bytes.resize(std::min(had + kStep, most_bytes));
    in.read(bytes.data() + had, static_cast<std::streamsize>(bytes.size() - had));
    bytes.resize(had + static_cast<std::size_t>(in.gcount()));
  }
  if (!in && !in.eof()) refuse(path, "cannot be read");
  return bytes;
}

std::string read_file(const std::string& path, std::size_t most_bytes) {
  // One byte more than is allowed tells a file that is too large.
  std::string bytes = read_start(path, most_bytes + 1);
  if (bytes.size() > most_bytes) {
    refuse(path, fmt::format("is larger than {} MB", most_bytes >> 20));
  }
  return bytes;
}

}  // namespace isochrone
