#include "sim/life.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <utility>

#include "base/rng.h"
#include "sim/day_traffic.h"
#include "sim/latency.h"

// A life is one loop over the soonest of what may happen: something in the pool, the
// first request of a conversation, a client who comes back (next turn or next try), a
// look of the autoscaler, an interruption. Pool events before an instant come first, so
// an arrival is seen by a boundary of the same instant, as everywhere in this room.

namespace isochrone::sim {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kHour_ns = 3'600'000'000'000;
constexpr std::int64_t kWarm_ns = kHour_ns;
constexpr double kDay_s = 86400;

/// What a client draws is his own, so two settings are compared on the same requests.
struct Client {
  Rng rng;
  std::size_t stream = 0;
  std::int64_t asked_ns = 0;  ///< this turn, its first try
  int turn = 1;
  int tries = 0;
  Work work = {};
};

struct Return {
  std::int64_t ns = 0;
  std::uint64_t sequence = 0;
  std::uint64_t client = 0;

  bool operator>(const Return& other) const {
    return std::pair(ns, sequence) > std::pair(other.ns, other.sequence);
  }
};

void check(const LifeSettings& s) {
  const auto refuse = [](const char* why) { throw std::invalid_argument(why); };
  if (s.days < 1) refuse("at least one day is lived");
  if (!(s.load >= 0)) refuse("a load is not negative");
  if (!(s.turns >= 1) || !(s.think_s >= 0)) refuse("a conversation has a turn or more");
  if (!(s.later_hit_share >= 0 && s.later_hit_share <= 1)) {
    refuse("a prefix hit share lies in 0 .. 1");
  }
  if (s.retries < 0 || s.retry_pause.count() < 0) refuse("retries are not negative");
  if (!(s.interruptions_per_replica_day >= 0)) refuse("interruptions are not negative");
}

class DayLife {
 public:
  DayLife(const Deployment& deployment, PoolId id, const LifeSettings& settings)
      : deployment_(deployment),
        settings_(settings),
        place_(deployment.pools[id]),
        root_(Rng(settings.seed).stream("life", id.index())),
        fate_(root_.stream("fate")),
        sampler_(place_.kind),
        scaler_(settings.scaler),
        pool_(place_.kind, settings.elastic),
        traffic_(deployment, id, scenarios::kBlocks - 1, settings.load / settings.turns,
                 root_.stream("traffic")),
        end_ns_(kWarm_ns + settings.days * std::llround(kDay_s * 1e9)) {
    for (const Stream& stream : deployment.streams) {
      if (stream.pool == id) know(deployment.objectives[stream.entry]);
    }
  }

  Life run() {
    const bool scales = settings_.scaler.by != Autoscaler::By::kNothing;
    const Autoscaler& rule = settings_.scaler;
    pool_.begin(
        scales ? std::clamp(place_.replicas, rule.least, rule.most) : rule.least, 0);
    arrival_ = traffic_.next();
    look_ns_ = rule.interval.count();
    strike_ns_ = next_strike(0);
    while (live_one()) {
    }
    finish();
    return std::move(life_);
  }

 private:
  void know(const std::vector<Objective>& objectives) {
    for (const Objective& objective : objectives) {
      if (index_of(objective) == life_.objectives.size()) {
        ObjectiveLife row;
        row.objective = objective;
        life_.objectives.push_back(std::move(row));
        days_.emplace_back(static_cast<std::size_t>(settings_.days));
      }
    }
  }

  std::size_t index_of(const Objective& objective) const {
    const auto found =
        std::ranges::find_if(life_.objectives, [&](const ObjectiveLife& row) {
          return row.objective.metric == objective.metric &&
                 row.objective.percentile == objective.percentile &&
                 row.objective.limit == objective.limit;
        });
    return static_cast<std::size_t>(found - life_.objectives.begin());
  }

  /// False when the days are over and the last request has ended.
  bool live_one() {
    const bool open = arrival_.ns < end_ns_;
    if (!open && returns_.empty() && pool_.in_system() == 0) return false;
    const std::int64_t comes = open ? arrival_.ns : kNever;
    const std::int64_t back = returns_.empty() ? kNever : returns_.top().ns;
    const std::int64_t soonest = std::min({comes, back, look_ns_, strike_ns_});
    if (pool_.next_event_ns() < soonest) {
      pool_.step();
      collect();
    } else if (soonest == comes) {
      begin_conversation();
    } else if (soonest == back) {
      const std::uint64_t client = returns_.top().client;
      returns_.pop();
      offer(client, back);
    } else if (soonest == look_ns_) {
      look();
    } else {
      strike();
    }
    return true;
  }

  // --- clients ----------------------------------------------------------------------

  void begin_conversation() {
    const Rng own = root_.stream("conversation", conversations_++);
    const std::uint64_t id = place({own, arrival_.stream});
    ask(id, arrival_.ns);
    offer(id, arrival_.ns);
    arrival_ = traffic_.next();
  }

  std::uint64_t place(const Client& client) {
    if (free_.empty()) {
      clients_.push_back(client);
      return clients_.size() - 1;
    }
    const std::uint64_t id = free_.back();
    free_.pop_back();
    clients_[id] = client;
    return id;
  }

  void ask(std::uint64_t id, std::int64_t now_ns) {
    Client& client = clients_[id];
    client.asked_ns = now_ns;
    client.tries = 0;
    client.work = sampler_.draw(client.rng);
    const double share =
        client.turn == 1 ? place_.kind.prefix_hit_share : settings_.later_hit_share;
    client.work.cached =
        static_cast<std::int64_t>(share * static_cast<double>(client.work.prompt));
    ++life_.counts.asked;
    life_.counts.answer_tokens_asked += client.work.answer;
  }

  void offer(std::uint64_t id, std::int64_t now_ns) {
    Client& client = clients_[id];
    ++life_.counts.offered;
    ++arrivals_since_look_;
    if (pool_.offer({id, now_ns, client.work}, now_ns)) return;
    ++life_.counts.turned_away;
    try_again(id, now_ns);
  }

  void try_again(std::uint64_t id, std::int64_t now_ns) {
    Client& client = clients_[id];
    if (client.tries < settings_.retries) {
      ++client.tries;
      ++life_.counts.retried;
      come_back(id, now_ns + settings_.retry_pause.count());
      return;
    }
    ++life_.counts.lost;
    life_.counts.answer_tokens_lost += client.work.answer;
    judge_lost(client);
    free_.push_back(id);
  }

  void come_back(std::uint64_t id, std::int64_t ns) {
    returns_.push({ns, sequence_++, id});
  }

  void collect() {
    for (const Request& request : pool_.left()) {
      ++life_.counts.left;
      try_again(request.tag, request.arrival_ns + settings_.elastic.patience->count());
    }
    pool_.left().clear();
    for (const Outcome& outcome : pool_.finished()) end_turn(outcome);
    pool_.finished().clear();
  }

  void end_turn(Outcome outcome) {
    Client& client = clients_[outcome.tag];
    ++life_.counts.served;
    life_.counts.preempted += outcome.preempted ? 1 : 0;
    life_.counts.answer_tokens_served += outcome.answer;
    outcome.arrival_ns = client.asked_ns;
    judge(client, outcome);
    ttfts_.push_back(outcome.first_ns - outcome.arrival_ns);
    // Of a geometric number with this mean, each turn is the last with 1 / mean.
    if (outcome.last_ns < end_ns_ && client.rng.uniform() * settings_.turns > 1) {
      const double think_ns = settings_.think_s * 1e9 * client.rng.exponential();
      ++client.turn;
      const std::int64_t next_ns = outcome.last_ns + std::llround(think_ns);
      ask(outcome.tag, next_ns);
      come_back(outcome.tag, next_ns);
    } else {
      free_.push_back(outcome.tag);
    }
  }

  struct Day {
    std::uint64_t requests = 0;
    std::uint64_t kept = 0;
    Histogram values;
  };

  // --- what is measured -------------------------------------------------------------

  bool measured(const Client& client) const {
    return client.asked_ns >= kWarm_ns && client.asked_ns < end_ns_;
  }

  void judge(Client& client, const Outcome& outcome) {
    const Stream& stream = deployment_.streams[client.stream];
    const LatencySplit latency = latency_of(stream, place_, outcome, client.rng);
    if (!measured(client)) return;
    TurnLife& turn =
        life_.turns[static_cast<std::size_t>(std::min(client.turn, 4) - 1)];
    ++turn.requests;
    turn.prompt_tokens += client.work.prompt;
    turn.cached_tokens += client.work.cached;
    turn.ttft.add(outcome.first_ns - outcome.arrival_ns);
    for (const Objective& objective : deployment_.objectives[stream.entry]) {
      const auto value = metric_of(objective.metric, latency, outcome);
      if (!value) continue;
      const bool kept = *value <= objective.limit.count();
      ObjectiveLife& row = count(client, objective, kept);
      row.values.add(*value);
      days_[index_of(objective)][day_of(client)].values.add(*value);
      if (kept) continue;
      const Culprit part = culprit_of(objective, stream, place_, client.work, latency);
      ++row.charged[static_cast<std::size_t>(part)];
    }
  }

  /// Who gave up did so in the queue, or before it.
  void judge_lost(const Client& client) {
    if (!measured(client)) return;
    for (const Objective& objective :
         deployment_.objectives[deployment_.streams[client.stream].entry]) {
      ObjectiveLife& row = count(client, objective, false);
      ++row.charged[static_cast<std::size_t>(Culprit::kQueue)];
    }
  }

  ObjectiveLife& count(const Client& client, const Objective& objective, bool kept) {
    const std::size_t index = index_of(objective);
    ObjectiveLife& row = life_.objectives[index];
    const std::size_t block = traffic_.block_at(client.asked_ns);
    Day& day = days_[index][day_of(client)];
    ++row.requests;
    ++row.requests_by_block[block];
    ++day.requests;
    if (!kept) return row;
    ++row.kept;
    ++row.kept_by_block[block];
    ++day.kept;
    return row;
  }

  static std::size_t day_of(const Client& client) {
    return static_cast<std::size_t>((client.asked_ns - kWarm_ns) / (24 * kHour_ns));
  }

  // --- the pool ---------------------------------------------------------------------

  void look() {
    Seen seen;
    seen.rps = static_cast<double>(arrivals_since_look_) * 1e9 /
               static_cast<double>(settings_.scaler.interval.count());
    seen.in_system = pool_.in_system();
    seen.up = pool_.up();
    if (!ttfts_.empty()) {
      const auto rank = static_cast<std::ptrdiff_t>(ttfts_.size() * 95 / 100);
      std::nth_element(ttfts_.begin(), ttfts_.begin() + rank, ttfts_.end());
      seen.ttft_p95_s =
          static_cast<double>(ttfts_[static_cast<std::size_t>(rank)]) / 1e9;
    }
    ttfts_.clear();
    arrivals_since_look_ = 0;
    pool_.want(scaler_.look(seen, look_ns_), look_ns_);
    look_ns_ += settings_.scaler.interval.count();
  }

  /// Candidates at the rate of the most replicas there can be; each is one only with
  /// the chance that its replica is up.
  std::int64_t next_strike(std::int64_t now_ns) {
    const double rate = settings_.interruptions_per_replica_day / (kDay_s * 1e9) *
                        static_cast<double>(most_replicas());
    if (rate <= 0) return kNever;
    return now_ns + std::llround(fate_.exponential() / rate);
  }

  std::int64_t most_replicas() const {
    return 2 * std::max<std::int64_t>(
                   {place_.replicas, settings_.scaler.most, settings_.scaler.least});
  }

  void strike() {
    const std::int64_t now_ns = strike_ns_;
    strike_ns_ = now_ns < end_ns_ ? next_strike(now_ns) : kNever;
    const std::uint64_t which =
        fate_.below(static_cast<std::uint64_t>(most_replicas()));
    if (which >= pool_.up()) return;
    ++life_.counts.replicas_lost;
    for (const Request& request : pool_.lose(which, now_ns)) {
      ++life_.counts.interrupted;
      ++life_.counts.resent;
      offer(request.tag, now_ns);
    }
  }

  // --- the end ----------------------------------------------------------------------

  void finish() {
    life_.counts.kv_blocks_missing = pool_.all_blocks() - pool_.free_blocks();
    life_.measured_ns = end_ns_ - kWarm_ns;
    for (const ElasticPool::Paid& step : pool_.paid()) {
      if (step.from_ns >= end_ns_) break;
      const std::int64_t from = std::max<std::int64_t>(0, step.from_ns - kWarm_ns);
      if (!life_.paid.empty() && life_.paid.back().from_ns == from)
        life_.paid.pop_back();
      life_.paid.push_back({from, step.replicas});
    }
    life_.replica_ns = integral(life_.paid, life_.measured_ns,
                                [](std::int64_t replicas) { return replicas; });
    for (std::size_t i = 0; i < life_.objectives.size(); ++i) {
      ObjectiveLife& row = life_.objectives[i];
      for (const Day& day : days_[i]) {
        if (day.requests == 0) continue;
        row.share_by_day.push_back(static_cast<double>(day.kept) /
                                   static_cast<double>(day.requests));
        row.percentile_by_day.push_back(
            smooth_quantile(day.values, row.objective.percentile / 100));
      }
    }
  }

  const Deployment& deployment_;
  const LifeSettings& settings_;
  const Pool& place_;
  Rng root_;
  Rng fate_;
  WorkSampler sampler_;
  Scaler scaler_;
  ElasticPool pool_;
  DayTraffic traffic_;
  std::int64_t end_ns_;

  DayTraffic::Arrival arrival_;
  std::int64_t look_ns_ = 0;
  std::int64_t strike_ns_ = kNever;
  std::vector<Client> clients_;
  std::vector<std::uint64_t> free_;
  std::priority_queue<Return, std::vector<Return>, std::greater<>> returns_;
  std::uint64_t sequence_ = 0;
  std::uint64_t conversations_ = 0;
  std::uint64_t arrivals_since_look_ = 0;
  std::vector<std::int64_t> ttfts_;     // of those that ended since the last look
  std::vector<std::vector<Day>> days_;  // by objective
  Life life_;
};

}  // namespace

Life live_through_days(const Deployment& deployment, PoolId pool,
                       const LifeSettings& settings) {
  check(settings);
  return DayLife(deployment, pool, settings).run();
}

}  // namespace isochrone::sim
