#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A copy of the tables that may be spoilt.
class Copy {
 public:
  Copy()
      : folder_(fs::temp_directory_path() /
                fmt::format("isochrone_tables_{}_{}", ::getpid(), ++made_)) {
    fs::create_directories(folder_);
    for (const auto& file : fs::directory_iterator(kFolder)) {
      if (file.path().extension() == ".csv") {
        fs::copy_file(file.path(), folder_ / file.path().filename());
      }
    }
  }
  ~Copy() { fs::remove_all(folder_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  /// Replaces the first `old` in the line that begins with `line_start`. Gives
  /// "file:line:column" of the place.
  std::string spoil(const std::string& table, const std::string& line_start,
                    const std::string& old, const std::string& fresh) {
    const fs::path path = folder_ / table;
    std::string text = read_file(path);
    const auto line = ("\n" + text).find("\n" + line_start);
    REQUIRE(line != std::string::npos);
    const auto at = text.find(old, line);
    REQUIRE(at < text.find('\n', line));
    text.replace(at, old.size(), fresh);
    std::ofstream(path, std::ios::binary) << text;
    const auto lines =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return fmt::format("{}:{}:{}", path.string(), lines + 1, at - line + 1);
  }

  void append(const std::string& table, const std::string& text) {
    std::ofstream(folder_ / table, std::ios::app) << text;
  }
  void remove(const std::string& table) { fs::remove(folder_ / table); }

  /// What load() complains of; "" if it does not.
  std::string complaint() const {
    try {
      (void)Catalog::load(folder_);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  std::string folder() const { return folder_; }

 private:
  static inline int made_ = 0;
  fs::path folder_;
};

struct Fault {
  const char* table;
  const char* line_start;
  const char* old;
  const char* fresh;
  const char* message;  ///< after "file:line:column: error: "
};

// Each spoils one cell of its own; together they show that one load reports them all.
const Fault kFaults[] = {
    {"access.csv", "AD,", "27.7", "7.7", ""},
    {"blocs.csv", "USMCA,", "CA|MX|US", "CA|MX|UX", "unknown countries \"UX\""},
    {"certifications.csv", "ovh,hds", "ovh", "ovhh",
     "unknown provider \"ovhh\"; did you mean \"ovh\"?"},
    {"countries.csv", "DE,", "Europe", "Euorpe",
     "unknown continent \"Euorpe\"; did you mean \"Europe\"?"},
    {"daily_profiles.csv", "office,weekday", "0.0999", "4.0999",
     "hours have mean 1.1667, expected 1"},
    {"egress.csv", "oci,,MIDDLE_EAST", "MIDDLE_EAST", "MIDDLE_EST",
     "unknown applies_to \"MIDDLE_EST\"; did you mean \"MIDDLE_EAST\"?"},
    {"gpu_names.csv", "L4,", "L4-24GB", "L4-42GB",
     "unknown gpu \"L4-42GB\"; did you mean \"L4-24GB\"?"},
    {"gpu_prices.csv", "aws,hyperscaler,site,aws/us-east-1,,L40S-48GB,4,on_demand",
     "2.6232", "0", "usd_per_gpu_hour is 0, expected 0.01 to 200"},
    {"gpus.csv", "L4-24GB", "300", "fast", "memory_gbs is \"fast\", expected a number"},
    {"locations.csv", "al-tirana", "41.3275", "141.3275",
     "lat is 141.3275, expected -90 to 90"},
    {"measured_rtt.csv", "aws/us-west-2,aws/ap-southeast-2", "138.529", "38.529",
     "rtt_ms is 38.529, faster than light in fibre"},
    {"metros.csv", "ae-dubai", "2956587", "2956587x",
     "weight_population is \"2956587x\", expected a number"},
    {"models.csv", "llama-3.1-70b", "327680", "327681",
     "kv_bytes_per_token_bf16 is 327681, but the shape gives 327680"},
    {"neighbour_weights.csv", "Abu Dhabi,Amsterdam", "Amsterdam", "Amsterdan",
     "unknown to \"Amsterdan\"; did you mean \"Amsterdam\"?"},
    {"network_regimes.csv", "public", "public", "publik",
     "unknown regime \"publik\"; did you mean \"public\"?"},
    {"residency.csv", "Switzerland,CH,\"FADP 2023", "adequacy", "adequazy",
     "unknown needs \"adequazy\"; did you mean \"adequacy\"?"},
    {"restrictions.csv", "KP,", "embargoed", "embargo",
     "unknown restriction \"embargo\"; did you mean \"embargoed\"?"},
    {"sites.csv", "aws/us-east-1,", "us-ashburn", "us-ashburm",
     "unknown location \"us-ashburm\"; did you mean \"us-ashburn\"?"},
    {"submarine_segments.csv", "MAREA", "Bilbao", "Bilbaoo",
     "unknown to \"Bilbaoo\"; did you mean \"Bilbao\"?"},
    {"terrestrial_links.csv", "Bude,Bristol", "195", "19",
     "route_km is 19, but the great circle has"},
    {"transit_gates.csv", "caribbean", "Miami", "Miamy",
     "unknown world_gates \"Miamy\"; did you mean \"Miami\"?"},
    {"territories.csv", "PR,", "US", "USA", "unknown follows \"USA\""},
};

TEST_SUITE("datasets/faults") {
  TEST_CASE("one load reports every spoilt cell with file, line, column and a hint") {
    Copy copy;
    std::vector<std::string> expected;
    for (const Fault& fault : kFaults) {
      const std::string place =
          copy.spoil(fault.table, fault.line_start, fault.old, fault.fresh);
      if (*fault.message == '\0') continue;
      expected.push_back(fmt::format("{}: error: {}", place, fault.message));
    }
    const std::string complaint = copy.complaint();

    for (const std::string& line : expected) {
      CAPTURE(line);
      CHECK(complaint.find(line) != std::string::npos);
    }
    CHECK(complaint.find("percentiles must not fall from p50 to p99") !=
          std::string::npos);
  }

  // 76 price rows rest on that name.
  TEST_CASE("a fault in one table is not told again by every table that uses it") {
    Copy copy;
    copy.spoil("gpu_names.csv", "L4,", "L4-24GB", "L4-42GB");
    copy.spoil("locations.csv", "al-tirana", "41.3275", "141.3275");
    const std::string complaint = copy.complaint();

    CHECK(complaint.find("gpu_names.csv:13") != std::string::npos);
    CHECK(complaint.find("gpu_prices.csv") == std::string::npos);
    CHECK(complaint.find("sites.csv") == std::string::npos);
  }

  TEST_CASE("every country is in one group of gates, and in one only") {
    Copy copy;
    copy.spoil("transit_gates.csv", "baltic_states", "EE|LT", "FI|LT");
    const std::string complaint = copy.complaint();

    CHECK(complaint.find("country EE is in no group") != std::string::npos);
    CHECK(complaint.find("countries \"FI\" stands twice") != std::string::npos);
  }

  // Perth and Chennai lie 6280 km apart; the way by Singapore has over 7000.
  TEST_CASE("adding a cable is a row and nothing else") {
    Copy copy;
    copy.append("submarine_segments.csv",
                "Short Cut,Perth,Chennai,6400,,in_service,,,,2026,estimated,none\n");
    const geo::NetworkModel before(Catalog::load(kFolder).network);
    const geo::NetworkModel after(Catalog::load(copy.folder()).network);
    const geo::Endpoint perth{"Perth", code("AU"), {-31.9522, 115.8614}};
    const geo::Endpoint chennai{"Chennai", code("IN"), {13.0878, 80.2785}};
    const auto km = [&](const geo::NetworkModel& model) {
      return model.route(geo::Regime::kBackbone, perth, chennai).path_km();
    };

    CHECK(km(before) > 7000);
    CHECK(km(after) == doctest::Approx(6400));
  }

  // A town that does not exist, 76 km north of Amsterdam.
  TEST_CASE("adding a city is a row for its users and one for its hub and link each") {
    Copy copy;
    copy.append(
        "metros.csv",
        "nl-newtown,Newtown,NL,53.05,4.70,100000,Europe/Amsterdam,2026,estimated,"
        "none\n");
    copy.append("hubs.csv", "Newtown,NL,53.05,4.70,2026,estimated,none\n");
    copy.append("terrestrial_links.csv",
                "Newtown,Amsterdam,120,,in_service,,,,2026,estimated,none\n");
    const Catalog catalog = Catalog::load(copy.folder());
    const geo::NetworkModel model(catalog.network);
    const Metro& town = catalog.metros.items().back();
    const geo::Endpoint at{town.name, town.country, town.at};
    const geo::Endpoint london{"London", code("GB"), {51.5074, -0.1278}};
    const geo::Route route = model.route(geo::Regime::kBackbone, at, london);

    CHECK(town.id == "nl-newtown");
    REQUIRE(!route.hops.empty());
    CHECK(route.hops.front().from == "Newtown");
    CHECK(route.total.basis == geo::RttBasis::kModelled);
  }

  TEST_CASE("a key that stands twice is reported with the line of the first") {
    Copy copy;
    copy.append("sites.csv",
                "aws/us-east-1,rentable,hyperscaler,us-ashburn,US,39.0437,-77.4875,"
                "H100,seen,,public,,,2026,seen,nobody\n");

    // 735 sites stand in lines 2 to 736, us-east-1 in the first of them.
    CHECK(copy.complaint().find("sites.csv:737:1: error: site \"aws/us-east-1\" stands "
                                "twice (first in line 2)") != std::string::npos);
  }

  TEST_CASE("a row without source, with a wrong date or basis is refused") {
    Copy copy;
    const std::string date =
        copy.spoil("gpu_prices.csv", "aws,", "2026-01-21", "2026-13");
    const std::string basis = copy.spoil("hubs.csv", "Abidjan", "seen", "sen");
    const std::string source = copy.spoil("hubs.csv", "Abuja", "GeoNames", "");
    const std::string complaint = copy.complaint();

    CHECK(complaint.find(date + ": error: as_of is \"2026-13\"") != std::string::npos);
    CHECK(complaint.find(basis + ": error: unknown basis \"sen\"; did you mean "
                                 "\"seen\"?") != std::string::npos);
    CHECK(complaint.find(source + ": error: source is empty") != std::string::npos);
  }

  TEST_CASE("a missing table, a missing column and an open quote are told together") {
    Copy copy;
    copy.remove("metros.csv");
    copy.spoil("hubs.csv", "hub,country", "lon", "longitude");
    copy.append("blocs.csv", "\"OPEC,");
    const std::string complaint = copy.complaint();

    CHECK(complaint.find("metros.csv: error: no such file") != std::string::npos);
    CHECK(complaint.find("hubs.csv:1:1: error: column \"lon\" is missing") !=
          std::string::npos);
    CHECK(complaint.find("quote is never closed") != std::string::npos);
  }

  TEST_CASE("a country without access figures is reported in its own row") {
    Copy copy;
    copy.spoil("access.csv", "DE,", "DE", "DD");
    const std::string complaint = copy.complaint();

    CHECK(complaint.find("country \"DE\" has no row in access.csv") !=
          std::string::npos);
    CHECK(complaint.find("unknown country \"DD\"") != std::string::npos);
  }

  TEST_CASE("a note that no price was found must agree with the prices") {
    Copy copy;
    copy.spoil("sites.csv", "aws/us-east-1,", "public,,,", "public,,no row,");

    CHECK(copy.complaint().find(
              "price_gap is given, but gpu_prices.csv has rows for this site") !=
          std::string::npos);
  }

  TEST_CASE("the hash follows the contents, not the folder") {
    Copy copy;
    const std::string same = Catalog::load(copy.folder()).hash;
    copy.spoil("hubs.csv", "Abuja", "GeoNames", "GeoName");
    const std::string other = Catalog::load(copy.folder()).hash;

    CHECK(same == world().hash);
    CHECK(same.size() == 64);
    CHECK(other != same);
  }
}

}  // namespace
}  // namespace isochrone::datasets
