#include "sim/disaggregation.h"

#include <algorithm>
#include <stdexcept>

#include "sim/instant.h"
#include "sim/pool.h"

namespace isochrone::sim {
namespace {

/// Everybody's outcome, by tag.
std::vector<Outcome> live(const PoolKind& kind, std::int64_t replicas,
                          const std::vector<Request>& requests, std::size_t tags) {
  PoolRun pool(kind, replicas);
  for (const Request& request : requests) pool.offer(request);
  while (pool.run_next()) {
  }
  std::vector<Outcome> outcomes(tags);
  for (const Outcome& outcome : pool.finished()) outcomes[outcome.tag] = outcome;
  return outcomes;
}

}  // namespace

std::vector<Outcome> live_disaggregated(const PoolKind& kind,
                                        const Disaggregation& split,
                                        const std::vector<Request>& requests) {
  if (!kind.batching) throw std::invalid_argument("only batching replicas are split");
  std::vector<Request> prompts(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    prompts[i] = {i, requests[i].arrival_ns, requests[i].work};
    prompts[i].work.answer = 1;
  }
  // Prefill never waits for decode: its whole life comes first.
  std::vector<Outcome> outcomes =
      live(kind, split.prefill_replicas, prompts, requests.size());
  std::vector<Request> moved;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Work& work = requests[i].work;
    outcomes[i].tag = requests[i].tag;
    if (work.answer < 2) continue;
    const Instant first{outcomes[i].first_ns, 0};
    const std::int64_t there =
        first.after(Wide{split.transfer_ps_per_token} * work.prompt).ns +
        split.transfer_start.count();
    // The first token belongs to the context now; the KV of all before it has come.
    moved.push_back(
        {i, there, {work.prompt + 1, work.answer - 1, 1, work.prompt, true}});
  }
  std::ranges::stable_sort(moved, {}, &Request::arrival_ns);
  const auto rest = live(kind, split.decode_replicas, moved, requests.size());
  for (const Request& request : moved) {
    Outcome& outcome = outcomes[request.tag];
    outcome.last_ns = rest[request.tag].last_ns;
    outcome.answer = requests[request.tag].work.answer;
    outcome.preempted |= rest[request.tag].preempted;
  }
  return outcomes;
}

}  // namespace isochrone::sim
