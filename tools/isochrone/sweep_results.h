#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace isochrone::tools {

/// The folder of a sweep: results.csv, a row per point in the order of the points, and
/// a plan per point. Rows are on disk as soon as they are added, so that a sweep that
/// is killed keeps what it has found.
class SweepResults {
 public:
  /// Makes the folder where there is none, and removes the results of an earlier sweep
  /// from it. Throws InputError if `folder` is a file, std::system_error if it cannot
  /// be written.
  SweepResults(std::string folder, std::string_view header);

  /// Files of an earlier sweep that were removed.
  std::size_t removed() const { return removed_; }
  std::string plan_path(std::size_t point) const;
  static std::string plan_name(std::size_t point);

  /// A line with its end. Throws std::system_error.
  void add(std::string_view line);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string folder_;
  std::string path_;
  std::size_t removed_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace isochrone::tools
