#include "datasets/pings.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

namespace fs = std::filesystem;

// On one meridian: a degree of latitude is 111.195 km, so light in fibre takes 1.0891
// ms there and back. P0 to P7 lie 10 degrees apart each.
constexpr const char* kPlaces =
    "place,city,country,lat,lon\n"
    "P0,Nought,AA,0,0\nP1,One,AA,10,0\nP2,Two,BB,20,0\nP3,Three,BB,30,0\n"
    "P4,Four,BB,40,0\nP5,Five,BB,50,0\nP6,Six,BB,60,0\nP7,Seven,BB,70,0\n";

class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_(fs::temp_directory_path() /
              ("isochrone-pings-" + std::to_string(counter_++) + name)) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { fs::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  static inline int counter_ = 0;
  fs::path path_;
};

PingFile read(const std::string& rows, const std::string& places = kPlaces) {
  const TemporaryFile file("rtt.csv", "from,to,rtt_ms_p50\n" + rows);
  const TemporaryFile at("places.csv", places);
  return PingFile::read(file.path(), at.path());
}

TEST_SUITE("datasets/pings") {
  TEST_CASE("values are kept as they stand, direction by direction") {
    const PingFile file = read("P0,P1,20.5\nP1,P0,21\n");

    REQUIRE(file.pings.size() == 2);
    CHECK(file.pings[0].rtt_ms == 20.5);
    CHECK(file.pings[1].rtt_ms == 21);
    CHECK(file.places[file.pings[1].from].end.name == "One");
    CHECK(file.warnings.empty());
  }

  TEST_CASE("a round trip faster than light is told, not mended") {
    const PingFile file = read("P0,P1,7\nP0,P2,30\n");

    REQUIRE(file.warnings.size() == 1);
    CHECK(
        file.warnings[0].message ==
        "1 round trips are faster than light in fibre, most of all P0 to P1 with 7 ms "
        "over 1112 km, which light takes 10.9 ms for");
    CHECK(file.warnings[0].position.line == 2);
    CHECK(file.pings[0].rtt_ms == 7);
  }

  TEST_CASE("a slow ping of a place to itself is told") {
    const PingFile file = read("P0,P0,0.4\nP1,P1,7\n");

    REQUIRE(file.warnings.size() == 1);
    CHECK(file.warnings[0].message ==
          "1 pings of a place to itself take more than 5 ms, most of all P1 with 7 ms");
  }

  // Light takes 10.9 ms per ten degrees; halves of 1.6 times that are 8.7, below light.
  TEST_CASE("a file of one-way delays is told") {
    const PingFile file =
        read("P0,P1,8.7\nP0,P2,17.4\nP0,P3,26.1\nP0,P4,34.8\nP0,P5,43.5\n");

    REQUIRE(file.warnings.size() == 2);
    CHECK(file.warnings[1].message ==
          "the values look like one-way delays: half of those over 500 km are below "
          "0.80 times the round trip of light in fibre; round trips are expected");
  }

  TEST_CASE("one place whose outward values are halves of the way back is told") {
    std::string rows;
    for (const char* other : {"P1", "P2", "P3", "P4", "P5"}) {
      rows += std::string("P0,") + other + ",100\n" + other + ",P0,200\n";
    }
    const PingFile file = read(rows);

    REQUIRE(file.warnings.size() == 1);
    CHECK(file.warnings[0].message ==
          "values from P0 look like one-way delays: half of them are below 0.50 times "
          "the way back");
  }

  TEST_CASE("a pair that is given twice is told, direction by direction") {
    const PingFile file = read("P0,P1,20\nP1,P0,21\nP0,P1,22\nP0,P1,23\n");

    REQUIRE(file.warnings.size() == 1);
    CHECK(file.warnings[0].message ==
          "2 rows repeat a pair of cities, P0 to P1 first: each counts where the model "
          "is "
          "judged, the first where it is replaced");
    CHECK(file.warnings[0].position.line == 4);
    CHECK(file.pings.size() == 4);
  }

  TEST_CASE("a file without rows is told") {
    const PingFile file = read("");

    REQUIRE(file.warnings.size() == 1);
    CHECK(file.warnings[0].message == "has no rows: nothing is measured");
  }

  TEST_CASE("two places of one city at one spot are told as one") {
    const PingFile file =
        read("A,B,20\nA2,B,21\nB,A2,22\n",
             "place,city,country,lat,lon\nA,Twin,AA,0,0\nA2,Twin,AA,0,0\n"
             "B,Other,AA,10,0\n");

    REQUIRE(file.warnings.size() == 1);
    CHECK(file.warnings[0].message.starts_with(
        "1 rows repeat a pair of cities, A2 to B"));
  }

  TEST_CASE("a byte order mark, Windows line ends and quotes change nothing") {
    const PingFile plain = read("P0,P1,20.5\n");
    const PingFile other = read("\"P0\",P1,\"20.5\"\r\n",
                                "\xEF\xBB\xBFplace,city,country,lat,lon\r\n"
                                "P0,\"Nought\",AA,0,0\r\nP1,One,AA,10,0\r\n");

    REQUIRE(other.pings.size() == 1);
    CHECK(other.pings[0].rtt_ms == plain.pings[0].rtt_ms);
    CHECK(other.places[1].end.name == "One");
  }

  TEST_CASE("values that are no round trip are refused, each at its place") {
    for (const char* value : {"nan", "inf", "-4", "0", "1e99", "0x10", "", "1.2.3"}) {
      CAPTURE(value);
      CHECK_THROWS_AS(read(std::string("P0,P1,") + value + "\n"), InputError);
    }
    CHECK_THROWS_AS(read("P0,P1\n"), InputError);
    CHECK_THROWS_AS(read("P0,P1,1,2\n"), InputError);
  }

  // Latitude and longitude of Mumbai exchanged lie in the Arctic Ocean north of Norway;
  // nearest is Srinagar or another town in the north of India, some 5,000 km away.
  TEST_CASE("a place in no country, or far from its own, is told") {
    const std::string right =
        "place,city,country,lat,lon\nlon,London,GB,51.5,-0.1\nbom,Mumbai,IN,19,72.9\n";
    const std::string wrong =
        "place,city,country,lat,lon\nlon,London,UK,51.5,-0.1\nbom,Mumbai,IN,72.9,19\n";

    CHECK(misplaced(read("", right), world()).empty());
    const auto found = misplaced(read("", wrong), world());
    REQUIRE(found.size() == 2);
    CHECK(
        found[0].message ==
        "1 places are of countries that are not known, lon of \"UK\" first; the metro "
        "nearest to it is London, GB");
    CHECK(found[0].position.line == 2);
    CHECK(found[1].message.starts_with(
        "1 places lie more than 2000 km from every metro of their country, most of all "
        "bom with "));
  }

  TEST_CASE("the places of the measurements that ship lie where they say") {
    PingFile file;
    for (const geo::MeasuredRtt& pair : world().network.measured) {
      file.places.push_back({pair.from.name, pair.from, {}});
    }

    CHECK(misplaced(file, world()).empty());
  }

  TEST_CASE("every unknown place and bad number is told at once") {
    try {
      read("P0,PX,12\nP1,P2,fast\n");
      FAIL("accepted");
    } catch (const InputError& fault) {
      CHECK(fault.diagnostics().size() == 2);
    }
    CHECK_THROWS_AS(read("", "place,city,country,lat,lon\nP0,A,AA,0,0\nP0,A,AA,0,0\n"),
                    InputError);
  }
}

}  // namespace
}  // namespace isochrone::datasets
