#include "scenarios/network.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "tests/scenarios/small_scenario.h"

namespace isochrone::scenarios {
namespace {

namespace fs = std::filesystem;
using geo::Regime;

/// A folder with measurements of Nairobi-Mumbai in the given rows.
class Folder {
 public:
  explicit Folder(const std::string& rows) {
    fs::create_directories(path_);
    std::ofstream(path_ / "pings.csv") << "from,to,rtt_ms_p50\n" << rows;
    std::ofstream(path_ / "places.csv")
        << "place,city,country,lat,lon\nnbo,Nairobi,KE,-1.2833,36.8167\n"
           "bom,Mumbai,IN,19.0728,72.8826\n";
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string measured(const std::string& regime) const {
    return "network { measured { file: \"" + (path_ / "pings.csv").string() +
           "\" places: \"" + (path_ / "places.csv").string() + "\" regime: \"" +
           regime + "\" } }";
  }

 private:
  fs::path path_ = fs::temp_directory_path() / "isochrone-network-test";
};

geo::RttEntry between(const geo::NetworkModel& model, Regime regime,
                      const geo::Endpoint& from, const geo::Endpoint& to) {
  return model.rtts(regime, std::span(&from, 1), std::span(&to, 1)).at(0, 0);
}

const geo::Endpoint kNairobi{"Nairobi", country("KE"), {-1.2833, 36.8167}};
const geo::Endpoint kMumbai{"Mumbai", country("IN"), {19.0728, 72.8826}};

TEST_SUITE("scenarios/network") {
  TEST_CASE("one's own measurements act in their regime and direction only") {
    const Folder folder("nbo,bom,222.5\n");
    const geo::NetworkModel plain = network_of(small_scenario(""), world());
    const geo::NetworkModel own =
        network_of(small_scenario(folder.measured("public")), world());

    const auto there = between(own, Regime::kPublic, kNairobi, kMumbai);
    CHECK(there.rtt == Micros{222'500});
    CHECK(there.basis == geo::RttBasis::kMeasured);
    CHECK(between(own, Regime::kPublic, kMumbai, kNairobi).rtt ==
          between(plain, Regime::kPublic, kMumbai, kNairobi).rtt);
    CHECK(between(own, Regime::kBackbone, kNairobi, kMumbai).rtt ==
          between(plain, Regime::kBackbone, kNairobi, kMumbai).rtt);
  }

  // PEACE is more than a tenth of what passes the Red Sea, and less than half of it.
  TEST_CASE("a strait whose reserve a cut exceeds counts as cut") {
    const geo::Endpoint london{"London", country("GB"), {51.5085, -0.1257}};
    const auto ms = [&](const std::string& network) {
      const Scenario scenario = small_scenario("network { " + network + " }");
      return to_ms(
          between(network_of(scenario, world()), Regime::kPublic, london, kMumbai).rtt);
    };
    const double intact = ms("");

    CHECK(ms("cut: \"cable/PEACE\"") < intact + 1);
    CHECK(ms("cut: \"cable/PEACE\" reserve_pct: 50") < intact + 1);
    CHECK(ms("cut: \"cable/PEACE\" reserve_pct: 10") > intact + 8);
    CHECK(ms("cut: \"cable/PEACE\" reserve_pct: 10") ==
          ms("cut: [\"chokepoint/red_sea\", \"chokepoint/bab_el_mandeb\"]"));
  }

  TEST_CASE("a measured value that beats light is used as it stands") {
    const Folder folder("nbo,bom,12\n");
    const Scenario scenario = small_scenario(folder.measured("public"));

    CHECK(between(network_of(scenario, world()), Regime::kPublic, kNairobi, kMumbai)
              .rtt == Micros{12'000});
  }
}

}  // namespace
}  // namespace isochrone::scenarios
