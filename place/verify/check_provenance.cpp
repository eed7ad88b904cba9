#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "base/hash.h"
#include "place/plan_file/plan_file.h"
#include "place/verify/checks.h"
#include "place/verify/seal.h"

namespace isochrone::verify {
namespace {

std::string serialised(const plan::Table& table) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  table.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

/// What no scenario decides is sealed: measured laws, and multipliers of which any
/// prove some bound.
void check_seals(const plan::Plan& plan, Faults& faults) {
  std::string tables;
  for (int i = 0; i < plan.tables_size(); ++i) {
    faults.equal(fmt::format("tables[{}].seal", i), plan.tables(i).seal(),
                 seal_of(plan.tables(i)));
    tables += serialised(plan.tables(i));
  }
  faults.equal("provenance.tables_hash", plan.provenance().tables_hash(),
               sha256(tables));
  if (plan.pools_size() == 0) return;  // a refusal
  if (plan.has_outlook()) {
    faults.equal("outlook.seal", plan.outlook().seal(), seal_of(plan.outlook()));
  }
  for (int i = 0; i < plan.revisions_size(); ++i) {
    faults.equal(fmt::format("revisions[{}].seal", i), plan.revisions(i).seal(),
                 seal_of(plan.revisions(i)));
  }
  faults.equal("certificate.seal", plan.certificate().seal(),
               seal_of(plan.certificate()));
}

void check_population(const Facts& facts, Faults& faults, int index) {
  const plan::Population& claimed = facts.plan.populations(index);
  const std::string where = fmt::format("populations[{}]", index);
  const auto id = facts.population(claimed.demand(), claimed.metro());
  if (!id) {
    faults.add(where, fmt::format("the scenario has no users of \"{}\" in {}",
                                  claimed.demand(), claimed.metro()));
    return;
  }
  const scenarios::Population& should = facts.demand.populations[*id];
  faults.equal(where + ".workload", claimed.workload(), facts.workload(should).name());
  faults.equal(where + ".country", claimed.country(), should.endpoint.country.text());
  faults.equal(where + ".region", claimed.region(),
               facts.demand.regions[should.region].name);
  faults.near(where + ".lat", claimed.lat(), should.endpoint.at.lat, 1e-9);
  faults.near(where + ".lon", claimed.lon(), should.endpoint.at.lon, 1e-9);
  faults.near(where + ".users", claimed.users(), should.users,
              1e-9 * std::max(1.0, should.users));
  faults.equal(where + ".best_effort", claimed.best_effort(),
               facts.best_effort_us(*id) >= 0);
  if (!std::ranges::equal(claimed.load(), should.load, {}, {}, &MicroRps::count)) {
    faults.add(where + ".load", "it is not the load that the scenario expands to");
  }
  if (!std::ranges::equal(claimed.requests_month(), should.requests_month)) {
    faults.add(where + ".requests_month",
               "they are not the requests that the scenario expands to");
  }
}

}  // namespace

void check_provenance(const Facts& facts, Faults& faults) {
  const plan::Plan& plan = facts.plan;
  faults.equal("format", plan.format(), place::kPlanFormat);
  faults.equal("scenario", plan.scenario(), facts.scenario.spec.name());
  if (plan.scenario_normalised() != facts.scenario.normalised) {
    faults.add("scenario_normalised", "the plan answers another scenario");
  }
  const plan::Provenance& provenance = plan.provenance();
  faults.equal("provenance.scenario_hash", provenance.scenario_hash(),
               sha256(facts.scenario.normalised));
  faults.equal("provenance.datasets_hash", provenance.datasets_hash(),
               facts.catalog.hash);
  check_seals(plan, faults);
  faults.equal("provenance.seed", provenance.seed(), scenarios::seed(facts.scenario));
  faults.equal("provenance.release", provenance.release(),
               std::string(ISOCHRONE_RELEASE));
  // No release starts from a base plan yet.
  faults.equal("provenance.start", provenance.start(), "cold");
  const bool planned = plan.status() == "planned" || plan.status() == "interrupted";
  if (!planned && plan.status() != "infeasible" && plan.status() != "undecided") {
    faults.add("status", fmt::format("\"{}\" is no status of a plan", plan.status()));
  }
  if (planned && plan.conflicts_size() > 0) {
    faults.add("status", "a plan with conflicts is not planned");
  }
  if (!planned && plan.pools_size() > 0) {
    faults.add("status", fmt::format("\"{}\", but there are pools", plan.status()));
  }
}

void check_populations(const Facts& facts, Faults& faults) {
  for (int i = 0; i < facts.plan.populations_size(); ++i) {
    check_population(facts, faults, i);
  }
  std::map<std::pair<std::string, std::string>, int> listed;
  for (const plan::Population& population : facts.plan.populations()) {
    ++listed[{population.demand(), population.metro()}];
  }
  for (const scenarios::Population& population : facts.demand.populations) {
    const std::string& entry = facts.entry_name(population);
    const int times = listed[{entry, population.metro}];
    if (times != 1) {
      faults.add("populations", fmt::format("\"{}\" in {} is listed {} times, not once",
                                            entry, population.metro, times));
    }
  }
}

}  // namespace isochrone::verify
