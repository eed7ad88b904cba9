#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "datasets/catalog.h"
#include "scenarios/calendar.h"
#include "scenarios/scenario.h"

namespace isochrone::scenarios {

/// Whether data of some classes may be processed in a country, and why.
struct Verdict {
  bool allowed = false;
  bool unknown = false;   ///< no rule is known; treated as the scenario says
  std::string mechanism;  ///< "home", "free", "adequacy", "policy rule 1", "off" ...
  std::vector<std::string> chain;  ///< the rows and lines that decided, in order
};

/// Mechanisms of transfer that `residency.law.mechanisms` could name and does not, in
/// the order of the format.
std::vector<std::string> unclaimed_mechanisms(const spec::Residency& residency);

/// Law and policy of a scenario.
///
/// Law: the own country (and a territory under the same law) is always allowed; rows of
/// `general` and of each class of the workload must admit, on every day of the horizon;
/// a country without rows is unknown, never free. A territory has the rules of the
/// country that it follows, and lies where that country does unless a row excepts it.
/// Policy: every rule that names the population must list the destination, whose
/// allow list is taken at its word (the own country too must be in it); `otherwise`
/// decides where no rule does. Data of class `none` are free of both.
class ResidencyRules {
 public:
  /// Both must outlive the rules.
  ResidencyRules(const Scenario& scenario, const datasets::Catalog& catalog);

  /// For data of all classes of workload `workload`, from users in `from`, processed in
  /// `to`, on every day of the horizon.
  Verdict verdict(geo::CountryCode from, std::size_t workload,
                  geo::CountryCode to) const;

 private:
  using Row = datasets::ResidencyRow;

  /// A line of `rules` or `assume`.
  struct Line {
    std::set<geo::CountryCode> from;
    std::set<std::string> data;  ///< empty: every class
    std::set<geo::CountryCode> allow;
    std::string because;
    std::string cite;
  };

  bool names(const Line& line, geo::CountryCode from, const std::string& data) const;
  Verdict law(geo::CountryCode from, const std::string& data,
              geo::CountryCode to) const;
  Verdict law_on(Day day, geo::CountryCode from, const std::string& data,
                 geo::CountryCode to) const;
  Verdict no_law(geo::CountryCode from, const std::string& data,
                 geo::CountryCode to) const;
  Verdict policy(geo::CountryCode from, const std::string& data,
                 geo::CountryCode to) const;
  /// Whether a row admits a destination, under which mechanism, and how it says so.
  Verdict reading(const Row& row, geo::CountryCode to) const;
  void add_notes(geo::CountryCode from, const std::string& data,
                 Verdict& verdict) const;

  const Scenario& scenario_;
  const datasets::Catalog& catalog_;
  std::map<std::pair<geo::CountryCode, std::string>, std::vector<const Row*>> rows_;
  std::vector<Line> rules_;
  std::vector<Line> assumptions_;
  std::vector<Day> days_;  ///< first day of service, then each on which a row changes
};

}  // namespace isochrone::scenarios
