// Every message of the reader and its checks is provoked by a file of tests/golden/bad
// or tests/golden/warned; beside each stands the exact text that a user sees. The
// target accept-golden-scenarios writes these texts anew, for a review of the
// difference.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "catalog_fixture.h"

namespace isochrone::scenarios {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> scenarios_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(ISOCHRONE_ROOT "/tests/golden/" + folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// The text without the folder that this checkout happens to lie in.
std::string at_home(std::string text, const fs::path& file) {
  const std::string folder = file.parent_path().string() + "/";
  for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
    text.erase(at, folder.size());
  }
  return text;
}

void check_against(const fs::path& golden, const std::string& text) {
  if (std::getenv("ISOCHRONE_ACCEPT_GOLDEN") != nullptr) {
    std::ofstream(golden, std::ios::binary) << text << "\n";
  }
  std::ifstream in(golden, std::ios::binary);
  std::stringstream expected;
  expected << in.rdbuf();
  CHECK(text + "\n" == expected.str());
}

TEST_SUITE("scenarios/golden") {
  TEST_CASE("every bad file is refused with exactly its text") {
    const auto files = scenarios_in("bad");
    REQUIRE(files.size() >= 50);
    for (const fs::path& file : files) {
      CAPTURE(file.filename().string());
      std::string text = "nothing is wrong";
      try {
        read_scenario(file.string(), catalog());
      } catch (const InputError& error) {
        text = error.what();
        for (const Diagnostic& fault : error.diagnostics()) {
          CHECK(fault.severity == Severity::kError);
          CHECK(fault.position.line > 0);
          CHECK(fault.position.column > 0);
        }
      }
      check_against(fs::path(file).replace_extension(".txt"), at_home(text, file));
    }
  }

  TEST_CASE("every doubtful file is read with exactly its warnings") {
    for (const fs::path& file : scenarios_in("warned")) {
      CAPTURE(file.filename().string());
      std::string text;
      for (const Diagnostic& warning :
           read_scenario(file.string(), catalog()).warnings) {
        CHECK(warning.severity == Severity::kWarning);
        text += (text.empty() ? "" : "\n") + render(warning, "");
      }
      check_against(fs::path(file).replace_extension(".txt"), at_home(text, file));
    }
  }
}

}  // namespace
}  // namespace isochrone::scenarios
