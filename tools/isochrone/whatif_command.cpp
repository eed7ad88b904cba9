#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/parallel.h"
#include "place/plan_file/missed_by.h"
#include "place/plan_file/plan_file.h"
#include "place/plan_file/table.h"
#include "place/planner/deploy.h"
#include "place/planner/question.h"
#include "scenarios/settings.h"
#include "sim/life.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

constexpr double kUse = 0.8;  // of what a replica carries, where no target is given
constexpr std::int64_t kMonthHours = 730;
__extension__ using Wide = __int128;

struct WhatIfOptions {
  std::string scenario, plan;
  std::string autoscale = "nothing";
  double target = 0;
  std::int64_t least = 1;
  std::optional<std::int64_t> most;
  double interval_s = 15, calm_s = 300, provision_min = 0;
  std::optional<double> cold_start_min, min_hours, patience_s, interruptions,
      later_hits;
  std::optional<std::size_t> admission;
  int retries = 0;
  double retry_pause_s = 1;
  double load = 1;
  int days = 3;
  std::vector<std::string> pools;
  double most_requests = 5e7;
};

/// A pool of the plan and what it went through.
struct Lived {
  const plan::Pool* pool = nullptr;
  std::string name;
  sim::LifeSettings settings;
  sim::Life life;
};

Nanos nanos(double seconds) { return Nanos{std::llround(seconds * 1e9)}; }

sim::Autoscaler scaler_of(const WhatIfOptions& options, const plan::Pool& pool) {
  using By = sim::Autoscaler::By;
  sim::Autoscaler rule;
  rule.interval = nanos(options.interval_s);
  rule.calm = nanos(options.calm_s);
  rule.target = options.target;
  if (options.autoscale == "nothing") {
    rule.least = rule.most = pool.replicas();
    return rule;
  }
  rule.least = options.least;
  rule.most = std::max(options.least, options.most.value_or(pool.replicas()));
  if (options.autoscale == "rps") {
    rule.by = By::kRps;
    const double carried = static_cast<double>(pool.capacity()) / 1e6 /
                           static_cast<double>(pool.replicas());
    if (rule.target <= 0) rule.target = kUse * carried;
  } else if (options.autoscale == "concurrency") {
    rule.by = By::kConcurrency;
    if (rule.target <= 0) {
      rule.target = kUse * static_cast<double>(pool.max_num_seqs());
    }
  } else {
    rule.by = By::kTtft;
    rule.target /= 1e3;  // ms
  }
  return rule;
}

sim::LifeSettings settings_of(const WhatIfOptions& options, const plan::Pool& pool,
                              const spec::Workload& workload,
                              const scenarios::Scenario& scenario) {
  const spec::Terms& terms = scenario.spec.terms();
  const spec::OnDemand& rent = terms.on_demand();
  sim::LifeSettings settings;
  settings.seed = scenarios::seed(scenario);
  settings.days = options.days;
  settings.load = options.load;
  settings.turns = workload.session().has_turns() ? workload.session().turns() : 1;
  settings.think_s = workload.session().think_s();
  settings.later_hit_share = options.later_hits.value_or(workload.prefix_hit_share());
  settings.retries = options.retries;
  settings.retry_pause = nanos(options.retry_pause_s);
  const double spot_losses =
      pool.term() == "spot" ? terms.spot().interruptions_per_gpu_day() : 0;
  settings.interruptions_per_replica_day =
      pool.tensor_parallel() * options.interruptions.value_or(spot_losses);
  settings.scaler = scaler_of(options, pool);
  sim::ElasticSettings& elastic = settings.elastic;
  elastic.provision = nanos(60 * options.provision_min);
  elastic.cold_start = nanos(60 * options.cold_start_min.value_or(
                                      rent.has_warmup_min() ? rent.warmup_min() : 10));
  elastic.min_stay = nanos(
      3600 * options.min_hours.value_or(rent.has_min_hours() ? rent.min_hours() : 1));
  if (options.patience_s) elastic.patience = nanos(*options.patience_s);
  elastic.admission = options.admission;
  return settings;
}

std::int64_t gpus_for(const plan::Pool& pool, std::int64_t replicas) {
  const std::int64_t shape = std::max(1, pool.shape_gpus());
  return (replicas * pool.tensor_parallel() + shape - 1) / shape * shape;
}

bool paid_by_the_hour(const plan::Pool& pool) {
  return pool.term() == "on_demand" || pool.term() == "spot";
}

MicroUsd plan_rent(const plan::Pool& pool) {
  return MicroUsd::of(pool.gpus() * pool.usd_micro_per_gpu_hour() * kMonthHours);
}

/// The exact integral of rented GPUs over the days, as a month of it costs.
MicroUsd lived_rent(const Lived& lived) {
  if (!paid_by_the_hour(*lived.pool)) return plan_rent(*lived.pool);
  const std::int64_t gpu_ns = sim::integral(
      lived.life.paid, lived.life.measured_ns,
      [&](std::int64_t replicas) { return gpus_for(*lived.pool, replicas); });
  const Wide sum = Wide{gpu_ns} * lived.pool->usd_micro_per_gpu_hour() * kMonthHours;
  return MicroUsd::of(static_cast<std::int64_t>((sum + lived.life.measured_ns / 2) /
                                                lived.life.measured_ns));
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string charged(const sim::ObjectiveLife& row) {
  std::array<double, sim::kCulprits> shares{};
  const auto missed = static_cast<double>(row.requests - row.kept);
  for (std::size_t i = 0; i < shares.size() && missed > 0; ++i) {
    shares[i] = static_cast<double>(row.charged[i]) / missed;
  }
  return place::missed_by(shares);
}

std::string worst_hour(const sim::ObjectiveLife& row) {
  double worst = 2;
  std::size_t at = 0;
  for (std::size_t b = 0; b < scenarios::kBlocks; ++b) {
    if (row.requests_by_block[b] == 0) continue;
    const double share = static_cast<double>(row.kept_by_block[b]) /
                         static_cast<double>(row.requests_by_block[b]);
    if (share >= worst) continue;
    worst = share;
    at = b;
  }
  return worst > 1 ? "" : fmt::format("{} at {:02} UTC", percent(worst), at);
}

std::string objective_word(const sim::Objective& objective) {
  constexpr std::array kNames = {"ttft", "tpot", "e2e"};
  return fmt::format("{}_p{:g}_ms",
                     kNames.at(static_cast<std::size_t>(objective.metric)),
                     objective.percentile);
}

std::string pools_table(const std::vector<Lived>& all) {
  place::TextTable table({"pool", "term", ">plan n", ">mean n", ">most n",
                          ">plan $/month", ">then $/month", ">asked", ">lost",
                          ">retried", ">resent"});
  MicroUsd before = MicroUsd::of(0), after = before;
  for (const Lived& lived : all) {
    const sim::Life& life = lived.life;
    std::int64_t most = 0;
    for (const auto& step : life.paid) most = std::max(most, step.replicas);
    before = before + plan_rent(*lived.pool);
    after = after + lived_rent(lived);
    table.add({lived.name, lived.pool->term(), fmt::to_string(lived.pool->replicas()),
               fmt::format("{:.2f}", static_cast<double>(life.replica_ns) /
                                         static_cast<double>(life.measured_ns)),
               fmt::to_string(most), to_text(plan_rent(*lived.pool)),
               to_text(lived_rent(lived)), fmt::to_string(life.counts.asked),
               percent(static_cast<double>(life.counts.lost) /
                       std::max(1.0, static_cast<double>(life.counts.asked))),
               fmt::to_string(life.counts.retried),
               fmt::to_string(life.counts.resent)});
  }
  return table.text() +
         fmt::format("GPU rent of these pools: {} a month as planned, {} then\n",
                     to_text(before), to_text(after));
}

std::string objectives_table(const std::vector<Lived>& all) {
  place::TextTable table({"pool", "objective", ">limit ms", ">at percentile", ">+-",
                          ">within", ">+-", ">worst hour", "missed by"});
  for (const Lived& lived : all) {
    for (const sim::ObjectiveLife& row : lived.life.objectives) {
      const bool batches = row.share_by_day.size() > 1;
      table.add(
          {lived.name, objective_word(row.objective),
           fmt::format("{:g}", static_cast<double>(row.objective.limit.count()) / 1e6),
           fmt::format("{:.1f}", row.at_percentile() / 1e6),
           batches ? fmt::format("{:.1f}", row.percentile_half_width() / 1e6) : "-",
           percent(row.attained()),
           batches ? fmt::format("{:.2f}", 100 * row.half_width()) : "-",
           worst_hour(row), charged(row)});
    }
  }
  return table.text();
}

std::string turns_table(const std::vector<Lived>& all) {
  place::TextTable table(
      {"pool", "turn", ">requests", ">from cache", ">p50 ms in pool", ">p95"});
  for (const Lived& lived : all) {
    if (lived.settings.turns <= 1) continue;
    for (std::size_t i = 0; i < lived.life.turns.size(); ++i) {
      const sim::TurnLife& turn = lived.life.turns[i];
      const auto at = [&](double p) {
        return fmt::format(
            "{:.1f}", static_cast<double>(sim::quantile({{&turn.ttft, 1}}, p)) / 1e6);
      };
      table.add({lived.name, i == 3 ? "4 and more" : fmt::to_string(i + 1),
                 fmt::to_string(turn.requests),
                 percent(static_cast<double>(turn.cached_tokens) /
                         std::max(1.0, static_cast<double>(turn.prompt_tokens))),
                 at(0.5), at(0.95)});
    }
  }
  return table.empty() ? "" : "\nturns of a conversation\n" + table.text();
}

double requests_of(const sim::Deployment& deployment, sim::PoolId pool) {
  double rps_hours = 0;
  for (const sim::Stream& stream : deployment.streams) {
    if (stream.pool != pool) continue;
    for (const MicroRps load : stream.load) rps_hours += to_rps(load);
  }
  return rps_hours * 3600;  // a day
}

bool chosen(const WhatIfOptions& options, const std::string& pool) {
  return options.pools.empty() ||
         std::ranges::any_of(options.pools, [&](const std::string& word) {
           return pool.find(word) != std::string::npos;
         });
}

void run_what_if(const WhatIfOptions& options, Session& session) {
  if (options.autoscale == "ttft" && options.target <= 0) {
    usage_error("--autoscale ttft needs a --target in ms");
  }
  const scenarios::Scenario scenario = session.scenario(options.scenario);
  const plan::Plan plan = place::read_plan(options.plan);
  const place::Question question = place::Question::ask(scenario, session.catalog());
  sim::Deployment deployment;
  try {
    deployment = place::deploy(question, plan);
  } catch (const std::invalid_argument& mismatch) {
    Diagnostics faults;
    faults.error({options.plan, 0, 0}, mismatch.what(),
                 "is it a plan of this scenario?");
    faults.throw_if_errors();
  }
  std::vector<Lived> all;
  std::vector<sim::PoolId> ids;
  for (int i = 0; i < plan.pools_size(); ++i) {
    const sim::PoolId id{static_cast<std::uint32_t>(i)};
    const plan::Pool& pool = plan.pools(i);
    if (!chosen(options, deployment.pools[id].name)) continue;
    if (!deployment.pools[id].kind.batching) {
      session.log(
          fmt::format("{}: no batching engine, left out", deployment.pools[id].name));
      continue;
    }
    const auto& workloads = scenario.spec.workloads();
    const auto named =
        std::ranges::find(workloads, pool.workload(), &spec::Workload::name);
    all.push_back({&pool,
                   deployment.pools[id].name,
                   settings_of(options, pool, *named, scenario),
                   {}});
    ids.push_back(id);
  }
  if (all.empty()) usage_error("the plan has no such pool with a batching engine");
  double requests = 0;
  for (const sim::PoolId id : ids) {
    requests += requests_of(deployment, id) * options.days * options.load;
  }
  if (requests > options.most_requests) {
    usage_error(fmt::format("{:.0f} million requests in {} days of {} pools",
                            requests / 1e6, options.days, all.size()),
                "fewer --days, one --pool, or more --max-requests");
  }
  auto lives = parallel_map(all.size(), [&](std::size_t i) {
    return sim::live_through_days(deployment, ids[i], all[i].settings);
  });
  for (std::size_t i = 0; i < all.size(); ++i) all[i].life = std::move(lives[i]);
  print(pools_table(all) + "\n" + objectives_table(all) + turns_table(all));
}

}  // namespace

void add_what_if(CLI::App& app, Session& session) {
  auto o = std::make_shared<WhatIfOptions>();
  CLI::App* command = app.add_subcommand(
      "what-if",
      "Whole days of a plan's llm pools: autoscaling, conversations, retries, losses");
  command->add_option("scenario", o->scenario, "Scenario file")->required();
  command->add_option("--plan", o->plan, "Plan file (.pb, .json or .textproto)")
      ->required();
  command
      ->add_option("--autoscale", o->autoscale,
                   "What the number of replicas follows; nothing: as planned")
      ->check(CLI::IsMember({"nothing", "rps", "concurrency", "ttft"}))
      ->capture_default_str();
  command
      ->add_option("--target", o->target,
                   "rps: per replica; concurrency: requests per replica; ttft: ms of "
                   "queue and prefill, p95. Unset: 80 % of what the plan counts on")
      ->check(number_within(1e-6, 1e9));
  const auto count = CLI::Range(0, 1'000'000);
  command->add_option("--min", o->least, "Fewest replicas of a pool")->check(count);
  command->add_option("--max", o->most, "Most; unset: as planned")
      ->check(CLI::Range(1, 1'000'000));
  const auto time = number_within(0, 1e7);
  command->add_option("--interval-s", o->interval_s, "Between two looks")
      ->check(number_within(0.001, 1e6));
  command->add_option("--calm-s", o->calm_s, "Fewer replicas only after so long")
      ->check(time);
  command
      ->add_option("--provision-min", o->provision_min, "From order to a paid machine")
      ->check(time);
  command
      ->add_option("--cold-start-min", o->cold_start_min,
                   "From there to the first request; unset: warmup_min of the scenario")
      ->check(time);
  command
      ->add_option("--min-hours", o->min_hours,
                   "Shortest rent; unset: min_hours of the scenario")
      ->check(time);
  command->add_option("--patience-s", o->patience_s, "Longest wait for a sequence slot")
      ->check(number_within(1e-6, 1e7));
  command->add_option("--admission", o->admission, "Requests that may wait")
      ->check(CLI::Range(0, 1'000'000'000));
  command
      ->add_option("--retries", o->retries, "Of who was turned away or lost patience")
      ->check(CLI::Range(0, 1000));
  command->add_option("--retry-pause-s", o->retry_pause_s, "Before each")->check(time);
  command
      ->add_option("--interruptions", o->interruptions,
                   "Of a GPU per day; unset: terms.spot of the scenario on spot pools")
      ->check(number_within(0, 1e4));
  command
      ->add_option("--later-hit-share", o->later_hits,
                   "Of the prompt of turns after the first, from the prefix cache; "
                   "unset: prefix_hit_share")
      ->check(number_within(0, 1));
  command->add_option("--load", o->load, "Times the planned load")
      ->check(number_within(0, 1000));
  command->add_option("--days", o->days, "Days to live through")
      ->check(CLI::Range(1, 366));
  command->add_option("--pool", o->pools,
                      "Only pools whose name holds this, e.g. a site; repeatable");
  command
      ->add_option("--max-requests", o->most_requests,
                   "More are refused; a core lives through a million or two a second")
      ->check(number_within(1, 1e12));
  command->callback([o, &session] { run_what_if(*o, session); });
}

}  // namespace isochrone::tools
