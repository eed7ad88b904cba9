#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/parallel_in_order.h"
#include "base/read_file.h"
#include "base/rng.h"
#include "base/stopping.h"
#include "base/units.h"
#include "base/utf8.h"

namespace isochrone {
namespace {

TEST_SUITE("base/unit") {
  TEST_CASE("money is rounded to the micro-dollar and printed with separators") {
    CHECK(usd(1.0000005).count() == 1000001);
    CHECK(to_text(usd(1234567.4)) == "$1,234,567");
    CHECK(to_text(usd(-12.345)) == "-$12.35");
    CHECK_THROWS_AS(usd(1e300), std::invalid_argument);
  }

  TEST_CASE("a month has 730 hours") {
    CHECK(per_month(usd_per_hour(2.0)) == usd(1460.0));
  }

  TEST_CASE("a misspelt word finds its neighbour, an unlike word finds none") {
    const std::vector<std::string> known{"residency", "resilience", "regions"};

    CHECK(nearest("residancy", known) == "residency");
    CHECK_FALSE(nearest("qq", known).has_value());
  }

  TEST_CASE("the beginning of a word finds the words that begin so, three at most") {
    const std::vector<std::string> known{"H100-80GB-SXM", "H100-80GB-PCIe", "L4-24GB"};

    CHECK(did_you_mean("h100", known) ==
          "did you mean \"H100-80GB-SXM\" or \"H100-80GB-PCIe\"?");
    CHECK(did_you_mean("L4-", known) == "did you mean \"L4-24GB\"?");
    CHECK(did_you_mean("H1", known).empty());
    CHECK(did_you_mean("A100", known).empty());
  }

  TEST_CASE("a fault is shown with its line and a caret under its column") {
    const Diagnostic fault{Severity::kError, {"a.yaml", 2, 3}, "bad", "try b"};

    CHECK(render(fault, "x\n  yy\n") == "a.yaml:2:3: error: bad; try b\n    yy\n    ^");
  }

  // ESC is U+001B, whose picture is U+241B, in UTF-8 E2 90 9B. C2 9B is the
  // one-character form of ESC [, E2 80 AE turns the direction of writing; neither has a
  // picture.
  TEST_CASE("no fault makes a terminal obey the text of an input") {
    const Diagnostic fault{Severity::kError, {"a\x1B.yaml", 1, 4}, "\x1B[31mbad", "\a"};

    CHECK(render(fault, "k: \x1B]0;t\a\n") ==
          "a\xE2\x90\x9B.yaml:1:4: error: \xE2\x90\x9B[31mbad; \xE2\x90\x87\n"
          "  k: \xE2\x90\x9B]0;t\xE2\x90\x87\n     ^");
    CHECK(printable("\xC2\x9B"
                    "1m\xE2\x80\xAE.\xFF\x7F") ==
          "\xEF\xBF\xBD"
          "1m\xEF\xBF\xBD.\xEF\xBF\xBD\xE2\x90\xA1");
    CHECK(printable("S\xC3\xA3o Paulo\t1\n") == "S\xC3\xA3o Paulo\t1\n");
    CHECK(printable(printable("\x1B\xFF")) == printable("\x1B\xFF"));
  }

  // FIPS 180-2, appendix B.1: the digest of "abc".
  TEST_CASE("sha256 gives the published digest of abc") {
    CHECK(sha256("abc") ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }

  TEST_CASE("a random stream depends on its name and index alone") {
    Rng root(42);
    Rng first = root.stream("arrivals", 7);
    root.next();

    Rng again = root.stream("arrivals", 7);
    CHECK(first.next() == again.next());
    CHECK(root.stream("arrivals", 8).next() != root.stream("arrivals", 7).next());
  }

  // Gamma with shape k and scale s has mean k s and variance k s^2; 200,000 draws put
  // the mean of shape 10.5 (variance 10.5) within 5 * sqrt(10.5 / 2e5) = 0.037.
  TEST_CASE("gamma draws have the mean of their law") {
    Rng rng(1);
    double sum = 0;
    for (int i = 0; i < 200000; ++i) sum += rng.gamma(10.5, 1.0);

    CHECK(sum / 200000 == doctest::Approx(10.5).epsilon(0.037 / 10.5));
  }

  TEST_CASE("parallel results stand in the order of their index") {
    const auto squares = parallel_map(100, [](std::size_t i) { return i * i; });

    for (std::size_t i = 0; i < 100; ++i) CHECK(squares[i] == i * i);
  }

  TEST_CASE("results are handed over in order, though their bodies run in parallel") {
    std::vector<std::size_t> squares(500);
    std::vector<std::size_t> handed;

    parallel_in_order(
        squares.size(),
        [&](std::size_t i) {
          // Parts of a body that are parallel themselves must not begin other bodies.
          for (const std::size_t part : parallel_map(20, [](auto j) { return j; })) {
            squares[i] += part * i;  // 0 + 1 + ... + 19 = 190
          }
        },
        [&](std::size_t i) { handed.push_back(squares[i]); });

    REQUIRE(handed.size() == 500);
    for (std::size_t i = 0; i < 500; ++i) CHECK(handed[i] == 190 * i);
  }

  TEST_CASE("after a failure no further result is handed over") {
    std::size_t handed = 0;
    const auto fail_at_ten = [](std::size_t i) {
      if (i == 10) throw std::runtime_error("ten");
    };

    CHECK_THROWS_WITH(parallel_in_order(1000, fail_at_ten, [&](auto) { ++handed; }),
                      "ten");
    CHECK(handed <= 10);
  }

  TEST_CASE("truths found in parallel do not overwrite their neighbours") {
    for (int trial = 0; trial < 200; ++trial) {
      const auto even = parallel_map(4096, [](std::size_t i) { return i % 2 == 0; });
      bool right = true;
      for (std::size_t i = 0; i < even.size(); ++i) {
        right = right && (even[i] != 0) == (i % 2 == 0);
      }
      REQUIRE(right);
    }
  }

  TEST_CASE("the failure with the lowest index is the one that is thrown") {
    CHECK_THROWS_WITH(
        parallel_for_each_index(50,
                                [](std::size_t i) {
                                  if (i % 10 == 3)
                                    throw std::runtime_error(std::to_string(i));
                                }),
        "3");
  }

  TEST_CASE("a file is read up to a limit, and nothing endless is read whole") {
    const auto complaint = [](const std::string& path) -> std::string {
      try {
        read_file(path, 1 << 20);
      } catch (const InputError& error) {
        return error.what();
      }
      return "";
    };
    CHECK(complaint("/dev/zero").find("is larger than 1 MB") != std::string::npos);
    CHECK(complaint("/dev").find("is a directory") != std::string::npos);
    CHECK(complaint("/nowhere/at/all").find("no such file") != std::string::npos);
    CHECK(read_file("/dev/null", 1 << 20).empty());
    CHECK(read_start("/dev/zero", 70'000).size() == 70'000);
  }

  TEST_CASE("parallel work that nobody waits for ends between two tasks") {
    std::atomic<int> begun = 0;
    const StopScope scope([&] { return begun >= 3; });

    CHECK_THROWS_AS(
        parallel_for_each_index(1000,
                                [&](std::size_t) {
                                  parallel_map(1, [&](std::size_t) { return ++begun; });
                                }),
        Stopped);
    // Each thread may be within a task when the third has begun.
    CHECK(begun <= 3 + static_cast<int>(thread_count()));
  }

  TEST_CASE("an inner scope keeps what must not be torn apart") {
    const StopScope outer([] { return true; });
    {
      const StopScope inner({});
      CHECK(parallel_map(3, [](std::size_t i) { return i; }).size() == 3);
    }
    CHECK_THROWS_AS(stop_if_asked(), Stopped);
  }

  TEST_CASE("a csv cell keeps commas, quotes and its place") {
    const CsvTable table = CsvTable::parse("a,b\n1,\"x, \"\"y\"\"\"\n", "t.csv", {"a"});

    CHECK(table.text(0, "b") == "x, \"y\"");
    CHECK(table.position(0, "b").line == 2);
    CHECK(table.position(0, "b").column == 3);
  }

  TEST_CASE("a csv cell that is written is read back") {
    for (const std::string text : {"plain", "a,b", "say \"so\"", "two\nlines", ""}) {
      const CsvTable table =
          CsvTable::parse("a,b\n1," + csv_cell(text) + "\n", "t.csv", {});
      CHECK(table.text(0, "b") == text);
    }
    CHECK(csv_cell("plain") == "plain");
  }

  TEST_CASE("what is no text is no csv") {
    const std::string bytes("value,weight\n1,\0\n", 17);

    CHECK_THROWS_WITH_AS(CsvTable::parse(bytes, "b.csv", {}),
                         doctest::Contains("is no text: it holds a NUL byte"),
                         InputError);
  }

  TEST_CASE("every fault of a csv file is told at once") {
    CHECK_THROWS_WITH_AS(CsvTable::parse("a,a\n1\n", "t.csv", {"b"}),
                         "t.csv:1:1: error: column \"b\" is missing\n"
                         "t.csv:1:3: error: column \"a\" appears twice\n"
                         "t.csv:2:1: error: row has 1 cells, the header has 2",
                         InputError);
  }
}

}  // namespace
}  // namespace isochrone
