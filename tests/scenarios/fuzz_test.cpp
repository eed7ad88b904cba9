// Hostile and damaged text: whatever it is, the reader either reads it or throws an
// InputError, soon. The seeds are fixed, so a failure comes back.
#include <chrono>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "base/rng.h"
#include "catalog_fixture.h"
#include "scenarios/yaml_tree.h"

namespace isochrone::scenarios {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string damage_bytes(std::string text, Rng& rng) {
  static const std::string spice = "[]{}:,-?&*#!|>'\"%@`\n \t\\~<=0";
  const auto edits = 1 + rng.below(6);
  for (std::uint64_t i = 0; i < edits && !text.empty(); ++i) {
    const auto at = rng.below(text.size());
    switch (rng.below(4)) {
      case 0:
        text.erase(at, 1 + rng.below(8));
        break;
      case 1:
        text[at] = spice[rng.below(spice.size())];
        break;
      case 2:
        text.insert(at, 1, spice[rng.below(spice.size())]);
        break;
      default:
        text[at] = static_cast<char>(rng.below(256));
    }
  }
  return text;
}

std::string damage_lines(const std::string& text, Rng& rng) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const auto from = rng.below(lines.size());
  const auto to = rng.below(lines.size());
  switch (rng.below(4)) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from));
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), lines[from]);
      break;
    case 2:
      std::swap(lines[from], lines[to]);
      break;
    default:
      lines[from].insert(0, 1 + rng.below(5), ' ');
  }
  std::string damaged;
  for (const std::string& line : lines) damaged += line + "\n";
  return damaged;
}

TEST_SUITE("scenarios/fuzz") {
  TEST_CASE("damaged examples are read or refused") {
    const Rng root(1);
    int refused = 0;
    for (const std::string& name : example_names()) {
      const std::string text = text_of(example_path(name));
      Rng rng = root.stream(name);
      for (int i = 0; i < 1000; ++i) {
        const std::string damaged =
            rng.below(3) == 0 ? damage_lines(text, rng) : damage_bytes(text, rng);
        try {
          const Scenario scenario = parse(damaged);
          CHECK(parse(scenario.normalised).normalised == scenario.normalised);
        } catch (const InputError& error) {
          CHECK_FALSE(error.diagnostics().empty());
          ++refused;
        }
      }
    }
    // Of random edits most hit something that matters, and some do not.
    const int tried = 1000 * static_cast<int>(example_names().size());
    CHECK(refused > tried / 2);
    CHECK(refused < tried);
  }

  TEST_CASE("a quarter mebibyte of one thing is refused within seconds") {
    const char* things[] = {"[",
                            "{",
                            "- ",
                            "? ",
                            "&a ",
                            "*a ",
                            "!a ",
                            "\"",
                            "'",
                            "%",
                            "a: ",
                            "a:",
                            "[a,",
                            "{a: ",
                            "{? ",
                            "[? [",
                            "''",
                            "word ",
                            "k: v\n",
                            "---\n",
                            "...\n",
                            "]",
                            "}",
                            ",",
                            "@",
                            "|\n",
                            ">\n",
                            "- - x\n",
                            "\"\\n\" ",
                            "\\",
                            "a: |\n  x\n\n",
                            "? a\n",
                            ": b\n",
                            "#",
                            "\n",
                            " ",
                            "<<: {",
                            "\xEF\xBB\xBF"};
    for (const std::string thing : things) {
      CAPTURE(thing);
      std::string text;
      while (text.size() < kMaxYamlBytes / 4) text += thing;
      const auto start = std::chrono::steady_clock::now();
      CHECK_FALSE(faults_of(text).empty());
      CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
    }
  }

  TEST_CASE("every beginning of an example is read or refused") {
    const std::string text = text_of(example_path("eu-bank-fraud"));
    for (std::size_t length = 0; length < text.size(); ++length) {
      try {
        parse(text.substr(0, length));
      } catch (const InputError& error) {
        CHECK_FALSE(error.diagnostics().empty());
      }
    }
  }
}

}  // namespace
}  // namespace isochrone::scenarios
