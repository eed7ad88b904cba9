#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "sim/engine.h"
#include "sim/pool.h"

namespace isochrone::sim {
namespace {

struct Tally {
  std::vector<Nanos> first;
  std::vector<Nanos> last;
  std::vector<Nanos> tpot;
  std::int64_t residence_ns = 0;
  std::uint64_t preempted = 0;

  void add(const Outcome& outcome) {
    first.emplace_back(outcome.first_ns - outcome.assigned_ns);
    last.emplace_back(outcome.last_ns - outcome.assigned_ns);
    residence_ns += outcome.last_ns - outcome.assigned_ns;
    preempted += outcome.preempted ? 1 : 0;
    if (outcome.answer < 2) return;
    const std::int64_t steps = outcome.answer - 1;
    const std::int64_t decode = outcome.last_ns - outcome.first_ns;
    tpot.emplace_back((decode + steps - 1) / steps);
  }
};

std::vector<Nanos> quantiles(std::vector<Nanos> values) {
  std::vector<Nanos> result;
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  for (const double p : service_grid()) {
    // A grid value such as .06 is a little above or below itself in binary.
    const double rank = std::ceil(p * count - 1e-6);
    const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
    result.push_back(values[std::min(index, values.size() - 1)]);
  }
  return result;
}

/// One decode step with `in_flight` requests of mean length, in ns.
double decode_step_ns(const PoolKind& kind, std::int64_t in_flight) {
  if (!kind.batching) return 0;
  const datasets::StepTimes& step = kind.batching->step;
  const double tokens = kind.prompt_tokens.mean() + kind.answer_tokens.mean() / 2;
  const auto batch = static_cast<double>(in_flight);
  return (static_cast<double>(step.t0) +
          batch *
              (static_cast<double>(step.b) + static_cast<double>(step.c) * tokens)) /
         1000;
}

struct Arrival {
  std::int64_t ns = 0;
  std::uint64_t tag = 0;
};

bool later(const Arrival& a, const Arrival& b) {
  return a.ns != b.ns ? a.ns > b.ns : a.tag > b.tag;
}

/// Quantiles that a number of requests take in turn, each once, in random order: the
/// mean work of a round is then that of the law, and a short run tells the throughput
/// of a long one. Independent draws of heavy-tailed lengths would leave 1-2 % of noise
/// in it, more than separates a large pool from saturation.
class Deck {
 public:
  Deck(std::uint64_t size, Rng rng) : order_(size), rng_(std::move(rng)) {
    std::iota(order_.begin(), order_.end(), std::uint64_t{0});
  }

  double next() {
    if (at_ == 0) {
      for (std::uint64_t i = order_.size() - 1; i > 0; --i) {
        std::swap(order_[i], order_[rng_.below(i + 1)]);
      }
    }
    const auto size = static_cast<double>(order_.size());
    const double quantile = (static_cast<double>(order_[at_]) + 0.5) / size;
    at_ = (at_ + 1) % order_.size();
    return quantile;
  }

 private:
  std::vector<std::uint64_t> order_;
  Rng rng_;
  std::uint64_t at_ = 0;
};

/// Requests that follow one another so that a fixed number is in flight or pausing.
class ClosedLoop {
 public:
  ClosedLoop(const PoolKind& kind, std::int64_t in_flight, std::uint64_t round,
             std::uint64_t seed)
      : sampler_(kind),
        pool_(kind, 1),
        rng_(Rng(seed).stream("service", static_cast<std::uint64_t>(in_flight))),
        prompts_(round, rng_.stream("prompts")),
        answers_(round, rng_.stream("answers")),
        pause_ns_(decode_step_ns(kind, in_flight)) {
    for (std::int64_t i = 0; i < in_flight; ++i) arrive_at(0);
  }

  /// Tallies requests `from` .. `until` - 1 in the order of their arrival.
  Tally measure(std::uint64_t from, std::uint64_t until) {
    Tally tally;
    std::uint64_t missing = until - from;
    while (missing > 0) {
      if (!coming_.empty() && coming_.front().ns <= pool_.next_boundary_ns()) {
        offer_next();
      } else {
        pool_.run_next();
      }
      for (const Outcome& outcome : pool_.finished()) {
        if (outcome.tag >= from && outcome.tag < until) {
          tally.add(outcome);
          --missing;
        }
        arrive_at(outcome.last_ns +
                  static_cast<std::int64_t>(pause_ns_ * rng_.uniform()));
      }
      pool_.finished().clear();
    }
    return tally;
  }

 private:
  void arrive_at(std::int64_t ns) {
    coming_.push_back({ns, next_tag_++});
    std::push_heap(coming_.begin(), coming_.end(), later);
  }

  void offer_next() {
    std::pop_heap(coming_.begin(), coming_.end(), later);
    const Arrival arrival = coming_.back();
    coming_.pop_back();
    const double first = prompts_.next();
    pool_.offer({arrival.tag, arrival.ns, sampler_.at(first, answers_.next())});
  }

  WorkSampler sampler_;
  PoolRun pool_;
  Rng rng_;
  Deck prompts_;  // or service times
  Deck answers_;
  double pause_ns_;
  std::vector<Arrival> coming_;
  std::uint64_t next_tag_ = 0;
};

}  // namespace

const std::vector<double>& service_grid() {
  static const std::vector<double> grid = [] {
    std::vector<double> points;
    for (int percent = 2; percent <= 98; percent += 2)
      points.push_back(percent / 100.0);
    for (const double p : {.985, .99, .9925, .995, .9975, .999, .9995, 1.0}) {
      points.push_back(p);
    }
    return points;
  }();
  return grid;
}

ServiceLaw measure_service(const PoolKind& kind, std::int64_t in_flight,
                           std::uint64_t requests, std::uint64_t seed) {
  check(kind);
  if (in_flight < 1 || in_flight > kind.max_num_seqs) {
    throw std::invalid_argument("requests in flight lie between 1 and max_num_seqs");
  }
  if (requests < 1) throw std::invalid_argument("at least one request is measured");
  Tally tally =
      ClosedLoop(kind, in_flight, requests, seed).measure(requests, 2 * requests);
  ServiceLaw law;
  law.requests = requests;
  law.mean_residence_s =
      static_cast<double>(tally.residence_ns) / 1e9 / static_cast<double>(requests);
  law.preemption_share =
      static_cast<double>(tally.preempted) / static_cast<double>(requests);
  law.first_token = quantiles(std::move(tally.first));
  law.last_token = quantiles(std::move(tally.last));
  law.tpot = quantiles(std::move(tally.tpot));
  return law;
}

}  // namespace isochrone::sim
