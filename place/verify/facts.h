#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "datasets/catalog.h"
#include "geo/network.h"
#include "place/plan.pb.h"
#include "scenarios/candidates.h"
#include "scenarios/demand.h"
#include "scenarios/residency.h"
#include "scenarios/scenario.h"

namespace isochrone::verify {

/// Reach of what does not depend on distance: an hour.
inline constexpr std::int64_t kAnywhereUs = 3'600'000'000;

/// Anything wider than 64 bits: load times share, money times load.
__extension__ using Wide = __int128;

inline constexpr std::int64_t kWholeShare = 1'000'000'000;

/// The question, worked out anew from scenario and catalog: what every check compares a
/// plan with. Nothing here comes from the plan but the indices into it, and what its
/// tables reach, which check_tables compares with the slow way.
struct Facts {
  Facts(const plan::Plan& plan, const scenarios::Scenario& scenario,
        const datasets::Catalog& catalog);

  const plan::Plan& plan;
  const scenarios::Scenario& scenario;
  const datasets::Catalog& catalog;
  scenarios::Demand demand;
  scenarios::Candidates candidates;
  scenarios::ResidencyRules rules;
  /// Public-Internet RTTs, population -> candidate, under the scenario's cuts.
  geo::RttMatrix rtts;

  std::optional<scenarios::PopulationId> population(const std::string& demand,
                                                    const std::string& metro) const;
  const scenarios::CandidateSite* candidate(const std::string& site) const;
  /// Entry name of a population.
  const std::string& entry_name(const scenarios::Population& population) const;
  const spec::Workload& workload(const scenarios::Population& population) const;
  const spec::Workload* workload(const std::string& name) const;
  std::optional<std::size_t> workload_index(const std::string& name) const;
  const geo::RttEntry& rtt(scenarios::PopulationId population,
                           const scenarios::CandidateSite& site) const;
  /// Whether the population's data may be processed at the site.
  bool lawful(const scenarios::Population& population,
              const scenarios::CandidateSite& site) const;
  /// Whether a batch workload's data may be processed at the site.
  bool batch_lawful(std::size_t workload, const scenarios::CandidateSite& site) const;
  /// Site of a plan's pool; nullptr if its index points nowhere or no candidate has its
  /// name.
  const scenarios::CandidateSite* site_of(const plan::Pool& pool) const;
  /// RTT up to which users whom no level reaches may be sent by best effort: 150 ms
  /// beyond the nearest lawful candidate. -1 if the population is not one of them: it
  /// is only where the plan's tables reach nobody of its country from any lawful
  /// candidate, the entry has no coverage below 1, and the rest of its region can make
  /// up for them (see lost_share). During a loss any lawful site will do for them.
  std::int64_t best_effort_us(scenarios::PopulationId population) const;
  /// Share s of the load of the population's workload and region, in the worst block,
  /// that comes from users served by best effort. They are counted as missed, so the
  /// others must attain p / (1 - s), which the level that waits least must still admit:
  /// p / (1 - s) <= 1 - 0.1 (1 - p).
  /// Degraded: of those, whom no level reaches on degraded terms either.
  double lost_share(const scenarios::Population& population, bool degraded) const;
  const plan::Pool* pool(std::uint32_t index) const;
  const plan::Table* table(const plan::Pool& pool) const;
  /// RTTs up to which pools of a table may serve the population: those of its entry and
  /// country, or best effort; nullopt if it is within no reach.
  struct ReachUs {
    std::int64_t normal = -1;
    std::int64_t degraded = -1;
  };
  std::optional<ReachUs> reach_us(const plan::Table& table,
                                  scenarios::PopulationId population) const;
  /// Whether a pool may serve the population, and after a loss: lawful, of its workload
  /// and within reach. Batch pools serve nobody.
  struct MayServe {
    bool normal = false;
    bool degraded = false;
  };
  MayServe may_serve(const plan::Pool& pool, scenarios::PopulationId population) const;

 private:
  const plan::Reach* reach_row(const plan::Table& table,
                               const scenarios::Population& population) const;
  void find_best_effort();
  bool within_some_reach(scenarios::PopulationId id, bool degraded) const;

  std::vector<std::int64_t> best_effort_us_;
  struct Lost {
    double normal = 0;
    double degraded = 0;
  };
  std::map<std::pair<std::size_t, scenarios::RegionId>, Lost> lost_share_;
  std::map<std::pair<std::string, std::string>, scenarios::PopulationId> populations_;
  std::map<std::string, scenarios::CandidateId, std::less<>> candidates_;
  std::map<std::tuple<geo::CountryCode, std::size_t, geo::CountryCode>, bool> lawful_;
};

/// Days from order to the day on which everything must serve.
std::int64_t days_to_ready(const scenarios::Scenario& scenario);

/// What an offer of a GPU lacks of what a workload requires; "" if nothing.
std::string lacking(const spec::Requires& needs, const datasets::Gpu& gpu,
                    const scenarios::Offer& offer);

/// What a site is lost with under `resilience.survive`; "" if nothing is to be
/// survived.
std::string loss_element(const scenarios::Scenario& scenario,
                         const scenarios::CandidateSite& site);

/// The group that provider shares and premiums are counted by: a colocation site stands
/// for itself.
const std::string& share_group(const scenarios::CandidateSite& site);

/// GPUs of one replica of a table's profile; 1 where the profile is no step profile.
std::int64_t gpus_per_replica(const datasets::Catalog& catalog,
                              const std::string& profile);

/// `gpus` rounded up to whole groups.
std::int64_t whole_groups(std::int64_t gpus, std::int64_t group);

/// Name of plan.proto for where an RTT comes from.
std::string rtt_basis_name(geo::RttBasis basis);

/// Load that n replicas carry by a table: A(n) / n is linear in n between the support
/// points, never falls, and stays beyond the last. Exact but for one rounding down.
std::int64_t carried(const plan::Table& table, std::int64_t n, bool degraded);

/// The objectives of a demand entry, or of an entry during a loss.
struct EntryObjectives {
  spec::Slo normal;
  spec::Slo degraded;
};
EntryObjectives entry_objectives(const Facts& facts, std::size_t entry);

}  // namespace isochrone::verify
