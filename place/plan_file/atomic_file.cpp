#include "place/plan_file/atomic_file.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace isochrone::place {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::system_error(error, std::generic_category(),
                          fmt::format("cannot write {}", path));
}

/// An open file that is closed, and if temporary removed, unless kept.
class OpenFile {
 public:
  OpenFile(std::string path, int flags, bool temporary, const std::string& named)
      : path_(std::move(path)), named_(named), temporary_(temporary) {
    descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      temporary_ = false;
      fail(named_, errno);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (temporary_) ::unlink(path_.c_str());
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(named_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void sync() {
    if (::fsync(descriptor_) != 0) fail(named_, errno);
  }

  /// Errors of a delayed write (network file systems) show up here.
  void close() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail(named_, errno);
  }

  void rename_to(const std::string& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) fail(named_, errno);
    temporary_ = false;
  }

 private:
  std::string path_;
  std::string named_;
  int descriptor_ = -1;
  bool temporary_;
};

/// A rename is on disk only once its folder is. Some file systems cannot sync a folder;
/// the content itself is safe by then.
void sync_folder(const fs::path& folder) {
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view bytes) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    OpenFile special(path, O_WRONLY, false, path);
    special.write(bytes);
    special.close();
    return;
  }
  const fs::path target = fs::exists(status) ? fs::canonical(path) : fs::path(path);
  const std::string temporary = fmt::format("{}.{}.tmp", target.string(), ::getpid());
  OpenFile file(temporary, O_WRONLY | O_CREAT | O_TRUNC, true, path);
  file.write(bytes);
  file.sync();
  file.close();
  file.rename_to(target.string());
  sync_folder(target.parent_path());
}

}  // namespace isochrone::place
