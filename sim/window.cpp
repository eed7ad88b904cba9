#include "sim/window.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sim/control.h"
#include "sim/pool.h"

// A window is a short stretch of a long life. The life itself is known from the fluid
// path, which is cheap; the simulator visits states of it that were drawn in their
// right shares (StateOrder) and looks closely. Two things must be in order when the
// measurement begins: the queue, which remembers rate epochs that are long gone, and
// the batch, which remembers a few residence times. The queue is set to the fluid's at
// the start of the warm-up; the warm-up is long enough for the batch, and for the
// queue's own fluctuation about the fluid, which is slow only near saturation.

namespace isochrone::sim {
namespace {

constexpr double kWarmResidences = 5;
constexpr double kWarmRelaxations = 3;
constexpr double kMeasuredResidences = 4;
constexpr double kMeasuredRequests = 1000;
constexpr double kLongestWarm_s = 900;
constexpr std::uint64_t kBackground = ~std::uint64_t{0};

std::int64_t to_ns(double seconds) { return std::llround(seconds * 1e9); }

/// Time in which a queue of many servers forgets (M/M/c below saturation).
double relaxation_s(double capacity_rps, double utilisation) {
  const double gap = 1 - std::sqrt(std::min(utilisation, 2.0));
  return 1 / (capacity_rps * std::max(gap * gap, 1e-9));
}

/// How often a state is drawn beside a calm one: where the pool is near saturation a
/// small difference decides, and the fluid cannot tell.
double draws_of(double wait_s, double utilisation, double longest_limit_s) {
  if (wait_s > 60 + 10 * longest_limit_s) return 1;
  if (wait_s > 0 || utilisation >= 0.75) return 8;
  return utilisation >= 0.6 ? 3 : 1;
}

class WindowRun {
 public:
  WindowRun(const WindowPool& pool, const FluidPath& path, Rng rng)
      : facts_(pool),
        path_(path),
        rng_(rng),
        sampler_(*pool.kind),
        pool_(*pool.kind, pool.replicas) {}

  Window run(std::size_t slot, double measured_s, double longest_limit_s) {
    const double begin = (static_cast<double>(slot) + rng_.uniform()) * path_.slot_s();
    window_.begin_s = begin;
    const double warm_s = warm_up(slot);
    start_s_ = begin - warm_s;
    preload(warm_s + measured_s + 2 * longest_limit_s);
    enter(path_.slot_at(start_s_));
    const double opens = warm_s;
    const double closes = warm_s + measured_s;
    while (next_arrival() < opens) offer(kBackground);
    for (; now_ < closes; next_arrival()) offer_measured();
    const double gives_up = closes + kTimeOut_s;
    for (; unfinished_ > 0 && now_ < gives_up; next_arrival()) offer(kBackground);
    if (unfinished_ > 0) {
      pool_.run_until(to_ns(gives_up));
      collect();
      mark_queued();
    }
    return std::move(window_);
  }

 private:
  double warm_up(std::size_t slot) const {
    const double utilisation = path_.total_rate(slot) / facts_.capacity_rps;
    const double relaxation = relaxation_s(facts_.capacity_rps, utilisation);
    return std::max(kWarmResidences * facts_.residence_s,
                    std::min(kWarmRelaxations * relaxation, kLongestWarm_s));
  }

  /// A waiting queue means a full pool: every slot gets a request in mid-life. What
  /// lies further behind than `horizon_s` cannot matter any more.
  void preload(double horizon_s) {
    const double backlog =
        std::min(path_.backlog_at(start_s_), facts_.capacity_rps * horizon_s);
    if (backlog < 1) return;
    const std::int64_t slots = facts_.replicas * facts_.kind->max_num_seqs;
    for (std::int64_t i = 0; i < slots; ++i) {
      offer(kBackground, sampler_.draw_residual(rng_));
    }
    const auto waiting = static_cast<std::int64_t>(backlog);
    for (std::int64_t i = 0; i < waiting; ++i) offer(kBackground);
  }

  void enter(std::size_t slot) {
    slot_ = slot;
    rate_ = path_.total_rate(slot);
    const double phase = std::fmod(start_s_ + now_, path_.slot_s());
    const double left = path_.slot_s() - (phase < 0 ? phase + path_.slot_s() : phase);
    // One slot is the whole path where nothing fluctuates.
    slot_ends_ = path_.slots() == 1 ? 1e18 : now_ + left;
  }

  double next_arrival() {
    while (true) {
      const double gap = rate_ > 0 ? rng_.exponential() / rate_ : 1e18;
      if (now_ + gap <= slot_ends_) return now_ += gap;
      now_ = slot_ends_;
      if (now_ >= 1e17) return now_;
      slot_ = (slot_ + 1) % path_.slots();
      rate_ = path_.total_rate(slot_);
      slot_ends_ = now_ + path_.slot_s();
    }
  }

  void offer(std::uint64_t tag) { offer(tag, sampler_.draw(rng_)); }

  void offer(std::uint64_t tag, const Work& work) {
    pool_.offer({tag, to_ns(now_), work});
    ++window_.simulated;
    collect();
  }

  void offer_measured() {
    MeasuredRequest request;
    request.group = pick_group();
    request.work = sampler_.draw(rng_);
    request.outcome.arrival_ns = to_ns(now_);
    window_.measured.push_back(request);
    ++unfinished_;
    offer(window_.measured.size() - 1, request.work);
  }

  /// First come, first served: who came after the head of the queue is in it.
  void mark_queued() {
    for (MeasuredRequest& request : window_.measured) {
      request.queued =
          !request.ended && request.outcome.arrival_ns >= pool_.waiting_since_ns();
    }
  }

  std::uint32_t pick_group() {
    double at = rng_.uniform() * rate_;
    std::uint32_t group = 0;
    while (group + 1 < path_.groups() && at >= path_.rate(group, slot_)) {
      at -= path_.rate(group++, slot_);
    }
    return group;
  }

  void collect() {
    for (const Outcome& outcome : pool_.finished()) {
      if (outcome.tag == kBackground) continue;
      MeasuredRequest& request = window_.measured[outcome.tag];
      request.finished = outcome.last_ns - outcome.arrival_ns <= to_ns(kTimeOut_s);
      request.ended = true;
      request.outcome = outcome;
      --unfinished_;
    }
    pool_.finished().clear();
  }

  const WindowPool& facts_;
  const FluidPath& path_;
  Rng rng_;
  WorkSampler sampler_;
  PoolRun pool_;
  Window window_;
  double start_s_ = 0;  // on the path; `now_` counts from it
  double now_ = 0;
  std::size_t slot_ = 0;
  double slot_ends_ = 0;
  double rate_ = 0;
  std::uint64_t unfinished_ = 0;
};

}  // namespace

WindowPool measured_pool(const PoolKind& kind, std::int64_t replicas,
                         std::uint64_t requests, std::uint64_t seed) {
  const ServiceLaw law = measure_service(kind, kind.max_num_seqs, requests, seed);
  const auto slots = static_cast<double>(replicas * kind.max_num_seqs);
  const auto half = static_cast<std::size_t>(
      std::find(service_grid().begin(), service_grid().end(), 0.5) -
      service_grid().begin());
  const auto first_ns = static_cast<double>(law.first_token[half].count());
  return {&kind,
          replicas,
          law.mean_residence_s,
          first_ns / 1e9,
          slots / law.mean_residence_s,
          busy_chances(replicas * kind.max_num_seqs)};
}

double slot_for(const WindowPool& pool) { return kWarmResidences * pool.residence_s; }

StateOrder::StateOrder(const std::vector<FluidPath>& paths, double longest_limit_s) {
  using Key = std::tuple<double, double, std::uint32_t, std::uint32_t>;
  std::vector<Key> keys;
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const FluidPath& path = paths[p];
    for (std::uint32_t slot = 0; slot < path.slots(); ++slot) {
      keys.emplace_back(path.backlog(slot) / path.capacity_rps(),
                        path.total_rate(slot) / path.capacity_rps(), p, slot);
    }
  }
  std::sort(keys.begin(), keys.end());
  order_.reserve(keys.size());
  up_to_.reserve(keys.size());
  double sum = 0;
  for (const auto& [wait_s, utilisation, path, slot] : keys) {
    const double often = draws_of(wait_s, utilisation, longest_limit_s);
    order_.push_back({path, slot, 1 / often});
    up_to_.push_back(sum += often);
  }
  for (FluidState& state : order_) {
    state.weight *= sum / static_cast<double>(order_.size());
  }
}

FluidState StateOrder::draw(std::size_t part, std::size_t parts, Rng& rng) const {
  const double share =
      (static_cast<double>(part) + rng.uniform()) / static_cast<double>(parts);
  const auto found =
      std::upper_bound(up_to_.begin(), up_to_.end(), share * up_to_.back());
  const auto rank = static_cast<std::size_t>(found - up_to_.begin());
  return order_[std::min(rank, order_.size() - 1)];
}

Window run_window(const WindowPool& pool, const FluidPath& path, std::size_t slot,
                  double measured_s, double longest_limit_s, Rng rng) {
  return WindowRun(pool, path, rng).run(slot, measured_s, longest_limit_s);
}

double window_length_s(const WindowPool& pool, double mean_rps) {
  return std::max(kMeasuredResidences * pool.residence_s,
                  kMeasuredRequests / std::max(mean_rps, 1e-9));
}

}  // namespace isochrone::sim
