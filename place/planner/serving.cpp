#include "place/planner/serving.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/parallel.h"
#include "place/planner/best_effort.h"
#include "scenarios/traffic.h"

namespace isochrone::place {
namespace {

using scenarios::Population;

constexpr double kPicosPerSecond = 1e12;
constexpr std::int64_t kLengthCap = 1'000'000;

/// A model of the scenario's own runs on its template's profiles, its weights scaled.
struct ModelInUse {
  std::string profile_model;
  double weight_ratio = 1;
};

ModelInUse model_in_use(const Question& question, const std::string& name) {
  for (const spec::Model& own : question.scenario.spec.models()) {
    if (own.name() != name) continue;
    const auto id = question.catalog.model(own.like());
    INVARIANT(id, "the reader admitted an unknown model " + own.like());
    const double params = question.catalog.models[*id].params_total_b;
    return {own.like(), own.has_params_b() ? own.params_b() / params : 1.0};
  }
  return {name, 1.0};
}

std::int64_t scaled(std::int64_t picos, double ratio) {
  return std::llround(static_cast<double>(picos) * ratio);
}

std::set<datasets::GpuId> offered_gpus(const Question& question,
                                       const spec::Requires& requirements) {
  std::set<datasets::GpuId> gpus;
  for (const scenarios::CandidateSite& site : question.candidates.sites) {
    for (const scenarios::Offer& offer : site.offers) {
      if (meets(requirements, question.catalog.gpus[offer.gpu], offer)) {
        gpus.insert(offer.gpu);
      }
    }
  }
  return gpus;
}

sim::IntegerLaw tokens(const spec::Law& law, const scenarios::Scenario& scenario,
                       sim::Quantity quantity) {
  return sim::IntegerLaw(law, 1.0, kLengthCap, scenario, quantity);
}

ServingOption profile_option(const Question& question, const spec::Workload& workload,
                             const datasets::StepProfile& profile, double ratio) {
  ServingOption option;
  option.profile = profile.id;
  option.gpu = profile.gpu;
  option.gpus_per_replica = profile.tensor_parallel;
  option.precision = profile.precision;
  datasets::StepTimes step = profile.step;
  for (std::int64_t* weight_bound : {&step.t0, &step.t0_prefill, &step.a, &step.f}) {
    *weight_bound = scaled(*weight_bound, ratio);
  }
  option.kind.batching = sim::BatchingEngine{step, profile.kv_block_tokens,
                                             profile.kv_blocks, profile.chunk_tokens};
  option.kind.prompt_tokens =
      tokens(workload.input_tokens(), question.scenario, sim::Quantity::kPrompt);
  option.kind.answer_tokens =
      tokens(workload.output_tokens(), question.scenario, sim::Quantity::kAnswer);
  option.kind.prefix_hit_share = workload.prefix_hit_share();
  const double front_end_ms =
      workload.has_front_end_ms() ? workload.front_end_ms() : profile.front_end_ms;
  option.front_end = Nanos{std::llround(front_end_ms * 1e6)};
  option.rests_on = fmt::format("step profile {}, {} +-{:.0f} %", profile.id,
                                datasets::to_text(profile.basis), profile.error_pct);
  option.step_error_pct = profile.error_pct;
  if (ratio != 1.0) option.rests_on += fmt::format(", weights scaled by {:.3f}", ratio);
  return option;
}

bool admits_parallel(const spec::Workload& workload, int tensor_parallel) {
  const auto& wanted = workload.tensor_parallel();
  return wanted.empty() || std::ranges::count(wanted, tensor_parallel) > 0;
}

/// fp8 where the GPU has a profile for it, else bf16, unless the workload says which.
bool admits_precision(const spec::Workload& workload,
                      const datasets::StepProfile& profile,
                      const std::set<datasets::GpuId>& with_fp8) {
  if (workload.has_precision()) return profile.precision == workload.precision();
  return with_fp8.contains(profile.gpu) ? profile.precision == "fp8"
                                        : profile.precision == "bf16";
}

std::vector<ServingOption> model_options(const Question& question,
                                         const spec::Workload& workload,
                                         const std::set<datasets::GpuId>& gpus) {
  const ModelInUse model = model_in_use(question, workload.model());
  const auto model_id = question.catalog.model(model.profile_model);
  std::set<datasets::GpuId> with_fp8;
  for (const datasets::StepProfile& profile : question.catalog.profiles) {
    if (profile.model == model_id && profile.precision == "fp8") {
      with_fp8.insert(profile.gpu);
    }
  }
  std::vector<ServingOption> options;
  for (const datasets::StepProfile& profile : question.catalog.profiles) {
    if (profile.model != model_id || !gpus.contains(profile.gpu)) continue;
    if (!admits_parallel(workload, profile.tensor_parallel)) continue;
    if (!admits_precision(workload, profile, with_fp8)) continue;
    options.push_back(profile_option(question, workload, profile, model.weight_ratio));
  }
  return options;
}

std::vector<ServingOption> slot_options(const Question& question,
                                        const spec::Workload& workload,
                                        const std::set<datasets::GpuId>& gpus) {
  const bool rate = workload.has_rate();
  ServingOption option;
  option.kind.slots = sim::SlotEngine{};
  if (rate) {
    const spec::Rate& pace = workload.rate();
    option.kind.slots->picos_per_token =
        std::llround(kPicosPerSecond / pace.tokens_per_s());
    if (pace.has_prefill_tokens_per_s()) {
      option.kind.slots->picos_per_prompt_token =
          std::llround(kPicosPerSecond / pace.prefill_tokens_per_s());
    }
    option.kind.max_num_seqs = pace.streams_per_gpu();
    option.kind.prompt_tokens =
        tokens(workload.input_tokens(), question.scenario, sim::Quantity::kPrompt);
    option.kind.answer_tokens =
        tokens(workload.output_tokens(), question.scenario, sim::Quantity::kAnswer);
    option.kind.prefix_hit_share = workload.prefix_hit_share();
    option.rests_on = "rate given by the scenario; no KV limit";
  } else {
    option.kind.service_ns = sim::IntegerLaw(workload.service_ms(), 1e6,
                                             3'600'000'000'000, question.scenario);
    option.kind.max_num_seqs = workload.streams_per_gpu();
    option.rests_on = "service time given by the scenario";
  }
  option.front_end = Nanos{std::llround(workload.front_end_ms() * 1e6)};
  std::vector<ServingOption> options;
  for (const datasets::GpuId gpu : gpus) {
    option.gpu = gpu;
    option.profile =
        fmt::format("{}/{}", rate ? "rate" : "service", question.catalog.gpus[gpu].id);
    options.push_back(option);
  }
  return options;
}

void keep_strictest(std::vector<sim::Objective>& into, const spec::Slo& slo) {
  for (const sim::Objective& objective : objectives_of(slo)) {
    const auto same = std::ranges::find_if(into, [&](const sim::Objective& known) {
      return known.metric == objective.metric &&
             known.percentile == objective.percentile;
    });
    if (same == into.end()) {
      into.push_back(objective);
    } else {
      same->limit = std::min(same->limit, objective.limit);
    }
  }
}

/// No reach beyond this tells levels apart.
Micros longest_rtt(const Question& question, std::size_t workload) {
  Micros longest{1};
  std::size_t row = 0;
  for (const Population& p : question.demand.populations) {
    const std::size_t d = row++;
    if (p.workload != workload) continue;
    for (std::size_t s = 0; s < question.rtts.columns(); ++s) {
      // Satellites are beyond every objective and would keep every level apart.
      const geo::RttEntry& rtt = question.rtts.at(d, s);
      if (rtt.basis != geo::RttBasis::kSatellite) longest = std::max(longest, rtt.rtt);
    }
  }
  return longest;
}

LevelQuestion level_question(const Question& question, std::size_t workload) {
  LevelQuestion levels;
  double burstiest = 0;
  for (std::size_t e = 0; e < question.demand.modulation.size(); ++e) {
    if (workload_index(question.scenario, question.entry(e)) != workload) continue;
    keep_strictest(levels.objectives, objectives(question.scenario, question.entry(e)));
    const scenarios::Modulation& modulation = question.demand.modulation[e];
    const double variance = modulation.shape > 0 ? 1 / modulation.shape : 0;
    if (variance >= burstiest) levels.modulation = modulation;
    burstiest = std::max(burstiest, variance);
  }
  keep_strictest(levels.degraded, degraded_objectives(question.scenario));
  levels.trips = scenarios::connection_trips(question.workload(workload));
  levels.longest_rtt = longest_rtt(question, workload);
  return levels;
}

std::optional<Micros> within_rtt_max(std::optional<Micros> reached,
                                     const spec::Slo& slo,
                                     const geo::AccessLaw& access) {
  if (!reached || !slo.has_rtt_max_ms()) return reached;
  const Micros cap = micros_from_ms(slo.rtt_max_ms() - access.quantile_ms(0.5));
  if (cap < Micros{0}) return std::nullopt;
  return std::min(*reached, cap);
}

/// What the rest must attain where `lost` of all are counted as missed.
std::vector<sim::Objective> raised(std::vector<sim::Objective> objectives,
                                   double lost) {
  for (sim::Objective& objective : objectives) {
    if (objective.metric == sim::Objective::Metric::kTpot) continue;
    objective.percentile /= 1 - lost;
  }
  return objectives;
}

}  // namespace

std::vector<sim::Objective> objectives_of(const spec::Slo& slo) {
  std::vector<sim::Objective> objectives;
  for (const spec::Objective& o : slo.objectives()) {
    using Metric = sim::Objective::Metric;
    const Metric metric = o.metric() == "ttft"   ? Metric::kTtft
                          : o.metric() == "tpot" ? Metric::kTpot
                                                 : Metric::kE2e;
    objectives.push_back({metric, o.percentile(), Nanos{std::llround(o.ms() * 1e6)}});
  }
  return objectives;
}

std::vector<ServingOption> serving_options(const Question& question,
                                           std::size_t workload) {
  const spec::Workload& w = question.workload(workload);
  if (w.kind() == "batch") return {};
  const auto gpus = offered_gpus(question, w.requirements());
  return w.kind() == "llm" && !w.has_rate() ? model_options(question, w, gpus)
                                            : slot_options(question, w, gpus);
}

Serving build_serving(const Question& question, std::size_t workload) {
  Serving serving;
  serving.workload = workload;
  serving.options = serving_options(question, workload);
  if (serving.options.empty()) return serving;
  serving.question = level_question(question, workload);
  serving.levels = build_tables(serving.options, serving.question,
                                scenarios::seed(question.scenario));
  settle_best_effort(question, serving);
  return serving;
}

void compute_reach(const Question& question, Serving& serving,
                   const Serving::LostShares& lost) {
  // One representative per (entry, country): its users share objectives and access law.
  std::map<Serving::Users, const Population*> users;
  for (const Population& p : question.demand.populations) {
    if (p.workload == serving.workload) {
      users.try_emplace({p.entry, p.endpoint.country}, &p);
    }
  }
  const spec::Workload& workload = question.workload(serving.workload);
  const std::int64_t trips = scenarios::connection_trips(workload);
  struct User {
    Serving::Users key;
    const Population* population;
    geo::AtomicLaw access;
    Nanos transfer;
    std::int64_t loss_trips;
  };
  std::vector<std::pair<Serving::Users, const Population*>> list(users.begin(),
                                                                 users.end());
  const std::vector<User> all_users = parallel_map(list.size(), [&](std::size_t i) {
    const Population& p = *list[i].second;
    const double ms = scenarios::transfer_ms(workload, p.access.download_mbps);
    const bool anew = serving.reconnecting.contains(list[i].first);
    return User{list[i].first, &p, p.access.atoms_with_jitter(),
                Nanos{std::llround(ms * 1e6)},
                anew ? scenarios::reconnection_trips(workload) : trips};
  });
  struct Both {
    Serving::Reached normal;
    Serving::Reached degraded;
  };
  const spec::Slo degraded_slo = degraded_objectives(question.scenario);
  const auto all = parallel_map(serving.levels.size(), [&](std::size_t l) {
    const LevelTable& level = serving.levels[l];
    const ServingOption& option = serving.options[level.option];
    Both both;
    for (const User& user : all_users) {
      const geo::AccessLaw& access = user.population->access;
      const auto reach_for = [&](const spec::Slo& slo, bool degraded) {
        const auto region = lost.find(user.population->region);
        const Serving::Lost shares =
            region == lost.end() ? Serving::Lost{} : region->second;
        const double share = degraded ? shares.degraded : shares.normal;
        return within_rtt_max(
            reach(level, option, raised(objectives_of(slo), share), degraded,
                  user.access, degraded ? user.loss_trips : trips, user.transfer),
            slo, access);
      };
      const auto normal = reach_for(
          objectives(question.scenario, question.entry(user.key.first)), false);
      if (normal) both.normal[user.key] = *normal;
      const auto degraded = reach_for(degraded_slo, true);
      if (degraded) both.degraded[user.key] = *degraded;
    }
    return both;
  });
  serving.reach.clear();
  serving.degraded_reach.clear();
  for (const Both& both : all) {
    serving.reach.push_back(both.normal);
    serving.degraded_reach.push_back(both.degraded);
  }
}

std::vector<TableOrigin> table_origins(const std::vector<Serving>& servings) {
  std::vector<TableOrigin> origins;
  for (std::size_t s = 0; s < servings.size(); ++s) {
    for (std::size_t l = 0; l < servings[s].levels.size(); ++l)
      origins.push_back({s, l});
  }
  return origins;
}

}  // namespace isochrone::place
