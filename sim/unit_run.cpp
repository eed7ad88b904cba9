#include "sim/unit_run.h"

#include <algorithm>
#include <map>
#include <utility>

namespace isochrone::sim {
namespace {

constexpr std::size_t kEpochs = 8192;  // of all blocks together
constexpr std::size_t kFewestEpochs = 256;
constexpr std::int64_t kTimeOut_ns = static_cast<std::int64_t>(kTimeOut_s * 1e9);

void add(LatencySplit& sums, const LatencySplit& one) {
  sums.connection += one.connection;
  sums.last_mile += one.last_mile;
  sums.wan += one.wan;
  sums.transfer += one.transfer;
  sums.front_end += one.front_end;
  sums.queue += one.queue;
  sums.prefill += one.prefill;
  sums.decode += one.decode;
}

}  // namespace

void UnitTally::merge(const UnitTally& later) {
  keys.resize(std::max(keys.size(), later.keys.size()));
  for (std::size_t i = 0; i < later.keys.size(); ++i) {
    const KeyTally& from = later.keys[i];
    KeyTally& to = keys[i];
    to.windows.insert(to.windows.end(), from.windows.begin(), from.windows.end());
    to.requests += from.requests;
    to.unfinished += from.unfinished;
    to.values.merge(from.values);
    add(to.sums, from.sums);
  }
  windows += later.windows;
  measured_s = later.measured_s;
  simulated += later.simulated;
}

UnitRun::UnitRun(const Deployment& deployment, const CellPlan& plan, std::size_t unit,
                 const WindowPool& pool, const Rng& rng)
    : deployment_(deployment),
      plan_(plan),
      pool_id_(plan.units[unit].pool),
      pool_(pool),
      rng_(rng) {
  const auto& unit_blocks = plan.units[unit].blocks;
  const std::size_t epochs = std::max(kFewestEpochs, kEpochs / unit_blocks.size());
  for (const std::size_t block : unit_blocks) {
    add_block(block, epochs, rng.stream("path", block));
  }
  double mean_rps = 0;
  for (const FluidPath& path : paths_) mean_rps += path.mean_rps();
  measured_s_ = window_length_s(pool_, mean_rps / static_cast<double>(paths_.size()));
  order_.emplace_back(paths_);
}

void UnitRun::add_block(std::size_t block, std::size_t epochs, const Rng& rng) {
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
                      rng);
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
  double mean_rps = 0;
  for (const FluidPath& path : paths_) mean_rps += path.mean_rps();
  mean_rps /= static_cast<double>(paths_.size());
  // Warm-up, window, and until the longest answer has ended.
  return mean_rps * (measured_s_ + 20 * pool_.residence_s);
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
    key.windows.back().requests += 1;
    key.windows.back().missed += met ? 0 : 1;
    key.values.add(*value);
    add(key.sums, latency);
  }
}

UnitTally UnitRun::run(std::uint64_t round, std::size_t first, std::size_t count_of,
                       std::size_t of) const {
  UnitTally tally;
  tally.keys.resize(plan_.keys_of_pool[pool_id_].size());
  tally.measured_s = measured_s_;
  const Rng round_rng = rng_.stream("round", round);
  for (std::size_t i = first; i < first + count_of; ++i) {
    Rng rng = round_rng.stream("window", i);
    const FluidState state = order_[0].draw(i / 2, of / 2, rng);
    const Window window = run_window(pool_, paths_[state.path], state.slot, measured_s_,
                                     longest_limit_s(), rng.stream("requests"));
    for (KeyTally& key : tally.keys) key.windows.emplace_back();
    for (const MeasuredRequest& request : window.measured) {
      count(request, pick_stream(state.path, request.group, rng), rng, tally);
    }
    ++tally.windows;
    tally.simulated += window.simulated;
  }
  return tally;
}

}  // namespace isochrone::sim
