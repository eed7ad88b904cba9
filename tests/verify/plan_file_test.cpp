#include "place/plan_file/plan_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <doctest/doctest.h>
#include <google/protobuf/util/message_differencer.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/hash.h"
#include "place/plan_file/atomic_file.h"
#include "tests/verify/small_plan.h"

namespace isochrone::place {
namespace {

namespace fs = std::filesystem;
using google::protobuf::util::MessageDifferencer;

/// A folder of its own for each test, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "isochrone_plan_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.exists()) ++count;
    }
    return count;
  }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string complaint(const std::string& bytes) {
  try {
    parse_plan(bytes, "plan.pb");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_SUITE("place/plan_file") {
  TEST_CASE("a plan that is written and read is the same plan") {
    const Folder folder;
    write_plan(small_plan(), folder.file("plan.pb"));

    CHECK(MessageDifferencer::Equals(read_plan(folder.file("plan.pb")), small_plan()));
    CHECK(folder.files() == 1);
  }

  TEST_CASE("equal plans give equal bytes, and the file ends with their hash") {
    const std::string bytes = plan_bytes(small_plan());

    CHECK(bytes == plan_bytes(small_plan()));
    CHECK(bytes.substr(bytes.size() - 64) ==
          sha256(bytes.substr(0, bytes.size() - 67)));
    // Any protobuf reader takes the hash for the last field of the message.
    plan::Plan plan;
    REQUIRE(plan.ParseFromString(bytes));
    CHECK(plan.content_hash() == bytes.substr(bytes.size() - 64));
  }

  TEST_CASE("a plan cut at any byte is refused") {
    const std::string bytes = plan_bytes(small_plan());

    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(size);
      CHECK(complaint(bytes.substr(0, size)) != "");
    }
    CHECK(contains(complaint(bytes.substr(0, bytes.size() / 2)), "cut short"));
    CHECK(contains(complaint(""), "the plan is empty"));
  }

  TEST_CASE("a plan with any damaged byte is refused") {
    const std::string bytes = plan_bytes(small_plan());

    for (std::size_t at = 0; at < bytes.size(); ++at) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      CAPTURE(at);
      CHECK(complaint(damaged) != "");
    }
    std::string damaged = bytes;
    damaged[bytes.size() / 2] = static_cast<char>(damaged[bytes.size() / 2] ^ 1);
    CHECK(contains(complaint(damaged), "damaged"));
  }

  TEST_CASE("a plan of a newer format names both formats") {
    plan::Plan plan = small_plan();
    plan.set_format(kPlanFormat + 1);

    CHECK(contains(complaint(plan_bytes(plan)),
                   "the plan has format 2, this program reads up to 1"));
  }

  TEST_CASE("what is no plan is called that") {
    CHECK(contains(complaint("\x7f"
                             "ELF is another kind of file"),
                   "this is no plan"));
    CHECK(contains(complaint(plan_bytes(plan::Plan())), "it names no format"));
  }

  TEST_CASE("a missing file is named with its reason") {
    CHECK_THROWS_WITH_AS(read_plan("/nowhere/plan.pb"),
                         doctest::Contains("/nowhere/plan.pb: error: no such file"),
                         InputError);
  }

  TEST_CASE("a plan written by hand as text needs no hash") {
    const Folder folder;
    write_file_atomically(folder.file("p.textproto"), to_textproto(small_plan()));
    write_file_atomically(folder.file("p.json"), to_json(small_plan()));

    CHECK(MessageDifferencer::Equals(read_plan(folder.file("p.textproto")),
                                     small_plan()));
    CHECK(MessageDifferencer::Equals(read_plan(folder.file("p.json")), small_plan()));
  }

  TEST_CASE("a mistake in a text plan is told with its line and column") {
    const Folder folder;
    write_file_atomically(folder.file("p.textproto"), "format: 1\nsitez { }\n");

    CHECK_THROWS_WITH_AS(read_plan(folder.file("p.textproto")),
                         doctest::Contains("p.textproto:2:"), InputError);
  }
}

TEST_SUITE("place/atomic_file") {
  TEST_CASE("a full disk is told and leaves the old plan and nothing else") {
    const Folder folder;
    write_file_atomically(folder.file("plan.pb"), "old");
    // A limit on file sizes stands in for a full disk: write() fails half way alike.
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit tight = before;
    tight.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &tight);
    const auto write = [&] {
      write_file_atomically(folder.file("plan.pb"), std::string(100'000, 'x'));
    };
    CHECK_THROWS_WITH_AS(write(), doctest::Contains("cannot write"), std::system_error);
    setrlimit(RLIMIT_FSIZE, &before);

    CHECK(content(folder.file("plan.pb")) == "old");
    CHECK(folder.files() == 1);
  }

  TEST_CASE("a device that is full is named with the reason") {
    CHECK_THROWS_WITH_AS(write_file_atomically("/dev/full", "x"),
                         "cannot write /dev/full: No space left on device",
                         std::system_error);
  }

  TEST_CASE("a folder that does not exist is an error that names the file") {
    CHECK_THROWS_WITH_AS(write_file_atomically("/nowhere/plan.pb", "x"),
                         "cannot write /nowhere/plan.pb: No such file or directory",
                         std::system_error);
  }

  TEST_CASE("a device is written, never replaced") {
    write_file_atomically("/dev/null", "x");

    CHECK(fs::is_character_file("/dev/null"));
  }

  TEST_CASE("a link keeps pointing at its target, which gets the content") {
    const Folder folder;
    write_file_atomically(folder.file("target"), "old");
    fs::create_symlink(folder.file("target"), folder.file("link"));
    write_file_atomically(folder.file("link"), "new");

    CHECK(fs::is_symlink(folder.file("link")));
    CHECK(content(folder.file("target")) == "new");
  }
}

}  // namespace
}  // namespace isochrone::place
