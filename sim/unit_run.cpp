#include "sim/unit_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace isochrone::sim {
namespace {

constexpr std::size_t kEpochs = 16384;  // of all blocks together
constexpr std::size_t kFewestEpochs = 1024;
constexpr std::int64_t kTimeOut_ns = static_cast<std::int64_t>(kTimeOut_s * 1e9);

constexpr double kHistogramUnit = 1024;

}  // namespace

std::array<std::int64_t, 8> parts_of(const LatencySplit& split) {
  return {split.connection.count(), split.last_mile.count(), split.wan.count(),
          split.transfer.count(),   split.front_end.count(), split.queue.count(),
          split.prefill.count(),    split.decode.count()};
}

void UnitTally::merge(const UnitTally& later) {
  keys.resize(std::max(keys.size(), later.keys.size()));
  for (std::size_t i = 0; i < later.keys.size(); ++i) {
    const KeyTally& from = later.keys[i];
    KeyTally& to = keys[i];
    to.windows.insert(to.windows.end(), from.windows.begin(), from.windows.end());
    to.requests += from.requests;
    to.unfinished += from.unfinished;
    to.kept += from.kept;
    to.kept_units += from.kept_units;
    for (std::size_t part = 0; part < kCulprits; ++part) {
      to.charged_units[part] += from.charged_units[part];
    }
    to.values.merge(from.values);
    for (std::size_t part = 0; part < to.sums.size(); ++part) {
      to.sums[part] += from.sums[part];
    }
    to.weights += from.weights;
  }
  windows += later.windows;
  measured_s = later.measured_s;
  simulated += later.simulated;
}

UnitRun::UnitRun(const Deployment& deployment, const CellPlan& plan, std::size_t unit,
                 const WindowPool& pool, const GammaTables& tables, const Rng& rng)
    : deployment_(deployment),
      plan_(plan),
      pool_id_(plan.units[unit].pool),
      pool_(pool),
      rng_(rng) {
  const auto& unit_blocks = plan.units[unit].blocks;
  const std::size_t epochs = std::max(kFewestEpochs, kEpochs / unit_blocks.size());
  for (const std::size_t block : unit_blocks) {
    add_block(block, epochs, tables, rng.stream("path", block));
  }
  double mean_rps = 0;
  for (const FluidPath& path : paths_) mean_rps += path.mean_rps();
  measured_s_ = window_length_s(pool_, mean_rps / static_cast<double>(paths_.size()));
  lives_.resize(plan.keys_of_pool[pool_id_].size());
  for (std::size_t path = 0; path < paths_.size(); ++path) ask_of_block(path);
  order_.emplace(paths_, longest_limit_s());
}

/// Waiting time that a key can bear: the limit without what it spends elsewhere. Only a
/// control rests on it, so middles will do.
double UnitRun::slack_s(std::size_t local) const {
  const std::size_t key = plan_.keys_of_pool[pool_id_][local];
  const Objective& objective = plan_.keys[key].objective;
  double network_ms = 0;
  double streams = 0;
  for (const std::size_t s : plan_.streams_of_pool[pool_id_]) {
    const auto& locals = plan_.locals_of_stream[s];
    if (std::find(locals.begin(), locals.end(), local) == locals.end()) continue;
    const Stream& stream = deployment_.streams[s];
    network_ms += static_cast<double>(stream.connection_trips) *
                      (to_ms(stream.rtt) + stream.access.p50_ms) +
                  static_cast<double>(stream.transfer.count()) / 1e6;
    streams += 1;
  }
  const double served_s = objective.metric == Objective::Metric::kTtft
                              ? pool_.first_token_s
                              : pool_.residence_s;
  const Nanos fixed = objective.limit - deployment_.pools[pool_id_].front_end;
  return static_cast<double>(fixed.count()) / 1e9 - served_s -
         network_ms / std::max(streams, 1.0) / 1e3;
}

void UnitRun::ask_of_block(std::size_t path) {
  std::vector<FluidQuestion> questions;
  for (std::size_t local = 0; local < lives_.size(); ++local) {
    const Objective& objective =
        plan_.keys[plan_.keys_of_pool[pool_id_][local]].objective;
    std::vector<bool> groups;
    for (const Choice& choice : choices_[path]) {
      const auto& locals = plan_.locals_of_stream[choice.streams.front()];
      groups.push_back(std::find(locals.begin(), locals.end(), local) != locals.end());
    }
    std::optional<double> slack;
    if (objective.metric != Objective::Metric::kTpot) slack = slack_s(local);
    const FluidQuestion& question = questions.emplace_back(
        std::move(groups), slack, pool_.capacity_rps, pool_.busy_chances);
    const FluidLife life = live(paths_[path], question);
    lives_[local].rate.requests += life.rate.requests;
    lives_[local].rate.missed += life.rate.missed;
    lives_[local].missed_variance += life.missed_variance;
  }
  questions_.push_back(std::move(questions));
}

void UnitRun::add_block(std::size_t block, std::size_t epochs,
                        const GammaTables& tables, const Rng& rng) {
  std::map<std::pair<std::size_t, scenarios::RegionId>, std::size_t> index;
  std::vector<StreamGroup> groups;
  std::vector<Choice> choices;
  for (const std::size_t s : plan_.streams_of_pool[pool_id_]) {
    const Stream& stream = deployment_.streams[s];
    const double rate = to_rps(stream.load[block]);
    if (rate <= 0) continue;
    const auto [found, added] =
        index.try_emplace({stream.entry, stream.region}, groups.size());
    if (added) {
      groups.push_back({0, deployment_.modulation[stream.entry]});
      choices.emplace_back();
    }
    groups[found->second].rate_rps += rate;
    choices[found->second].streams.push_back(s);
    choices[found->second].up_to.push_back(groups[found->second].rate_rps);
  }
  paths_.emplace_back(std::move(groups), pool_.capacity_rps, slot_for(pool_), epochs,
                      tables, rng);
  choices_.push_back(std::move(choices));
}

std::size_t UnitRun::pick_stream(std::size_t path, std::uint32_t group,
                                 Rng& rng) const {
  const Choice& choice = choices_[path][group];
  const double at = rng.uniform() * choice.up_to.back();
  const auto found = std::upper_bound(choice.up_to.begin(), choice.up_to.end(), at);
  const auto last = static_cast<std::ptrdiff_t>(choice.streams.size()) - 1;
  return choice
      .streams[static_cast<std::size_t>(std::min(found - choice.up_to.begin(), last))];
}

double UnitRun::longest_limit_s() const {
  double longest = 0;
  for (const std::size_t key : plan_.keys_of_pool[pool_id_]) {
    const Objective& objective = plan_.keys[key].objective;
    if (objective.metric == Objective::Metric::kTpot) continue;
    longest = std::max(longest, static_cast<double>(objective.limit.count()) / 1e9);
  }
  return longest;
}

double UnitRun::likely_cost() const {
  constexpr std::size_t kLooks = 64;
  Rng rng = rng_.stream("cost");
  // Warm-up, window, and until the longest answer has ended; and the queue, which is
  // worked off while as many arrive again.
  const double lasts_s = measured_s_ + 20 * pool_.residence_s;
  const double horizon_s = lasts_s + 2 * longest_limit_s();
  double sum = 0;
  for (std::size_t i = 0; i < kLooks; ++i) {
    const FluidState state = order_->draw(i, kLooks, rng);
    const FluidPath& path = paths_[state.path];
    sum += path.total_rate(state.slot) * lasts_s +
           2 * std::min(path.backlog(state.slot), pool_.capacity_rps * horizon_s);
  }
  return sum / static_cast<double>(kLooks);
}

void UnitRun::count(const MeasuredRequest& request, std::size_t stream, Rng& rng,
                    UnitTally& tally) const {
  const auto& locals = plan_.locals_of_stream[stream];
  LatencySplit latency;
  if (request.finished) {
    latency = latency_of(deployment_.streams[stream], deployment_.pools[pool_id_],
                         request.outcome, rng);
  }
  for (const std::size_t local : locals) {
    const Objective& objective =
        plan_.keys[plan_.keys_of_pool[pool_id_][local]].objective;
    const std::optional<std::int64_t> value =
        request.finished ? metric_of(objective.metric, latency, request.outcome)
                         : kTimeOut_ns;
    if (!value) continue;
    KeyTally& key = tally.keys[local];
    const bool met = request.finished && *value <= objective.limit.count();
    ++key.requests;
    key.unfinished += request.finished ? 0 : 1;
    WindowCount& window = key.windows.back();
    window.requests += 1;
    window.missed += met ? 0 : 1;
    const auto units =
        static_cast<std::uint64_t>(std::llround(window.weight * kHistogramUnit));
    key.values.add(*value, units);
    key.kept += met ? 1 : 0;
    if (met) {
      key.kept_units += units;
    } else {
      const Culprit part = culprit(request, objective, stream, latency);
      key.charged_units[static_cast<std::size_t>(part)] += units;
    }
    if (!request.finished) continue;
    key.weights += window.weight;
    const auto parts = parts_of(latency);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      key.sums[part] += window.weight * static_cast<double>(parts[part]);
    }
  }
}

Culprit UnitRun::culprit(const MeasuredRequest& request, const Objective& objective,
                         std::size_t stream, const LatencySplit& latency) const {
  if (request.finished) {
    return culprit_of(objective, deployment_.streams[stream],
                      deployment_.pools[pool_id_], request.work, latency);
  }
  if (request.ended) {
    return culprit_of_unfinished(*pool_.kind, request.work, request.outcome);
  }
  return request.queued ? Culprit::kQueue : Culprit::kDecode;
}

UnitTally UnitRun::run_one(const FluidState& state, Rng& rng) const {
  const FluidPath& path = paths_[state.path];
  const Window window = run_window(pool_, path, state.slot, measured_s_,
                                   longest_limit_s(), rng.stream("requests"));
  UnitTally tally;
  tally.windows = 1;
  tally.measured_s = measured_s_;
  tally.simulated = window.simulated;
  for (const FluidQuestion& question : questions_[state.path]) {
    const FluidAnswer fluid = ask(path, question, window.begin_s, measured_s_);
    tally.keys.emplace_back().windows.push_back(
        {0, 0, fluid.requests, fluid.missed, state.weight});
  }
  for (const MeasuredRequest& request : window.measured) {
    count(request, pick_stream(state.path, request.group, rng), rng, tally);
  }
  return tally;
}

UnitTally UnitRun::run(std::uint64_t round, std::size_t first, std::size_t count_of,
                       std::size_t of) const {
  UnitTally tally;
  const Rng round_rng = rng_.stream("round", round);
  for (std::size_t i = first; i < first + count_of; ++i) {
    Rng rng = round_rng.stream("window", i);
    const FluidState state = order_->draw(i / 2, of / 2, rng);
    tally.merge(run_one(state, rng));
  }
  return tally;
}

}  // namespace isochrone::sim
