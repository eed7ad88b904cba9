#include "tools/isochrone/sweep_results.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"

namespace isochrone::tools {
namespace {

namespace fs = std::filesystem;

/// Whether a file has a name that sweeps give, so that it may be removed.
bool is_result(const std::string& name) {
  if (name == "results.csv") return true;
  constexpr std::string_view kHead = "point-";
  constexpr std::string_view kEnd = ".pb";
  if (!name.starts_with(kHead) || !name.ends_with(kEnd)) return false;
  const std::string_view digits = std::string_view(name).substr(
      kHead.size(), name.size() - kHead.size() - kEnd.size());
  return digits.size() >= 5 &&
         digits.find_first_not_of("0123456789") == std::string_view::npos;
}

std::size_t remove_results(const fs::path& folder) {
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && is_result(entry.path().filename().string())) {
      old.push_back(entry.path());
    }
  }
  for (const fs::path& path : old) fs::remove(path);
  return old.size();
}

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), "cannot write " + path);
}

}  // namespace

SweepResults::SweepResults(std::string folder, std::string_view header)
    : folder_(std::move(folder)), path_(folder_ + "/results.csv") {
  std::error_code error;
  if (fs::exists(folder_, error) && !fs::is_directory(folder_, error)) {
    Diagnostics faults;
    faults.error({folder_, 0, 0}, "is a file; a sweep writes into a folder");
    faults.throw_if_errors();
  }
  fs::create_directories(folder_);
  removed_ = remove_results(folder_);
  file_.reset(std::fopen(path_.c_str(), "wbe"));
  if (!file_) fail(path_);
  add(header);
}

std::string SweepResults::plan_name(std::size_t point) {
  return fmt::format("point-{:05}.pb", point);
}

std::string SweepResults::plan_path(std::size_t point) const {
  return folder_ + "/" + plan_name(point);
}

void SweepResults::add(std::string_view line) {
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0) {
    fail(path_);
  }
}

}  // namespace isochrone::tools
