#include "place/core/branch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parallel.h"

namespace isochrone::place {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kBatch = 16;
constexpr std::int64_t kChunk = 10;
constexpr std::int64_t kMostSteps = 60;
constexpr std::int64_t kLastSteps = 400;  // where nothing is left to split

using Open = Restriction::Open;

}  // namespace

Branching::Branching(const Model& model, const DualAscent& root,
                     std::optional<Solution> best, double gap)
    : model_(model),
      root_(root),
      best_(std::move(best)),
      gap_(gap),
      least_closed_(kNever) {
  open_.push_back({root.within(), std::make_shared<const Prices>(root.best_prices()),
                   root.best_value(), 0});
}

double Branching::cutoff() const {
  if (!best_) return kNever;
  const double objective = static_cast<double>(best_->objective);
  return objective - gap_ * std::abs(objective);
}

double Branching::bound() const {
  double least = least_closed_;
  for (const Node& node : open_) least = std::min(least, node.bound);
  if (best_) least = std::min(least, static_cast<double>(best_->objective));
  return least;
}

void Branching::run(std::int64_t nodes) {
  const auto order = [](const Node& a, const Node& b) {
    return a.bound != b.bound ? a.bound > b.bound : a.id > b.id;
  };
  while (!open_.empty() && nodes_ < nodes && !(stop && stop())) {
    std::vector<Node> batch;
    while (!open_.empty() && batch.size() < kBatch) {
      std::ranges::pop_heap(open_, order);
      if (open_.back().bound >= cutoff()) {
        close(open_.back(), open_.back().prices, open_.back().bound);
      } else {
        batch.push_back(std::move(open_.back()));
      }
      open_.pop_back();
    }
    std::vector<Result> results =
        parallel_map(batch.size(), [&](std::size_t i) { return process(batch[i]); });
    for (Result& result : results) {
      if (result.plan && (!best_ || result.plan->objective < best_->objective)) {
        best_ = std::move(result.plan);
      }
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      ++nodes_;
      steps_ += results[i].steps;
      const double bound = std::max(batch[i].bound, results[i].bound);
      if (results[i].parts.empty() || bound >= cutoff()) {
        close(batch[i], results[i].prices, bound);
        continue;
      }
      if (!results[i].excluded.empty()) {
        proofs_.push_back({std::move(batch[i].within), results[i].prices,
                           std::move(results[i].excluded)});
      }
      for (Restriction& part : results[i].parts) {
        open_.push_back(
            {std::move(part), results[i].prices, bound,
             nodes_ * 2 + static_cast<std::int64_t>(&part - results[i].parts.data())});
        std::ranges::push_heap(open_, order);
      }
    }
    if (progress) progress(*this);
  }
}

void Branching::close(Node& node, const std::shared_ptr<const Prices>& prices,
                      double bound) {
  least_closed_ = std::min(least_closed_, bound);
  proofs_.push_back({std::move(node.within), prices, {}});
}

std::vector<PartProof> Branching::proofs() const {
  std::vector<PartProof> proofs;
  const auto add = [&](const Restriction& within, const Prices& prices,
                       const std::vector<PartProof::Excluded>& excluded) {
    proofs.push_back({within, root_.certificate_of(prices), excluded});
  };
  for (const Proof& proof : proofs_) add(proof.within, *proof.prices, proof.excluded);
  for (const Node& node : open_) add(node.within, *node.prices, {});
  return proofs;
}

Branching::Result Branching::process(const Node& node) const {
  DualAscent ascent = root_;
  const bool root = node.id == 0;
  if (!root) ascent.restart(node.within, *node.prices);
  const double cutoff = this->cutoff();
  const double target = best_ ? static_cast<double>(best_->objective) : kNever;
  Result result;
  const auto climb = [&](std::int64_t most) {
    double before = ascent.best_value();
    for (std::int64_t done = 0; done < most; done += kChunk) {
      ascent.run(kChunk, target);
      result.steps += kChunk;
      const double gain = ascent.best_value() - before;
      if (ascent.best_value() >= cutoff) return;
      if (done >= kChunk && gain < 0.05 * (cutoff - ascent.best_value())) return;
      before = ascent.best_value();
    }
  };
  if (!root) climb(kMostSteps);
  result.bound = ascent.best_value();
  if (result.bound >= cutoff) {
    result.prices = std::make_shared<const Prices>(ascent.best_prices());
    return result;
  }
  if (round) {
    result.plan = round(ascent, best_ ? std::optional<double>(target) : std::nullopt);
  }
  Restriction within = node.within;
  result.excluded = fix(ascent, within);
  result.parts = split(ascent, within);
  if (result.parts.empty() && !result.excluded.empty()) result.parts = {within};
  if (result.parts.empty()) {
    std::optional<Prices> exact;
    if (price) exact = price(within, cutoff);
    if (exact) {
      exact->row.assign(ascent.best_prices().row.size(), 0);
      ascent.restart(within, *exact);
      ascent.run(1, target);
      result.bound = std::max(result.bound, ascent.best_value());
    }
    if (result.bound < cutoff) {
      climb(kLastSteps);
      result.bound = std::max(result.bound, ascent.best_value());
    }
  }
  result.prices = std::make_shared<const Prices>(ascent.best_prices());
  return result;
}

/// What is built somewhere is open there, and the other way round where there is one
/// commodity.
void Branching::tighten(Restriction& within) const {
  const std::size_t commodities = at(model_.commodities());
  for (std::size_t i = 0; i < within.range.size(); ++i) {
    Open& site = within.open[i / commodities];
    if (within.range[i].first > 0) site = Open::kYes;
    if (commodities > 1 || model_.instance().sites[i].pinned) continue;
    if (within.range[i].last == 0) site = Open::kNo;
    if (site == Open::kYes) within.range[i].first = std::max(within.range[i].first, 1);
  }
}

/// What no plan better than the best one does.
std::vector<PartProof::Excluded> Branching::fix(const DualAscent& ascent,
                                                Restriction& within) const {
  std::vector<PartProof::Excluded> excluded;
  const double room = cutoff() - ascent.best_value();
  for (int s = 0; s < model_.sites(); ++s) {
    if (within.open[at(s)] != Open::kFree || model_.instance().sites[at(s)].pinned) {
      continue;
    }
    const double opening = ascent.opening()[at(s)];
    // With a limit on sites another one would take the place of a closed one.
    const bool needed = -opening >= room && !model_.instance().max_sites;
    if (opening < room && !needed) continue;
    within.open[at(s)] = needed ? Open::kYes : Open::kNo;
    excluded.push_back({s, needed ? Open::kNo : Open::kYes});
  }
  tighten(within);
  return excluded;
}

/// By the site that the average answer is least sure of, then by the pool whose size it
/// is least sure of, then by anything that is left.
std::vector<Restriction> Branching::split(const DualAscent& ascent,
                                          const Restriction& within) const {
  const std::size_t commodities = at(model_.commodities());
  std::pair<double, double> doubt{-1, 0};
  int site = -1;
  std::pair<double, int> spread{-1, 0};
  int pair = -1;
  int middle = 0;
  for (int s = 0; s < model_.sites(); ++s) {
    if (within.open[at(s)] == Open::kNo) continue;
    double open = 0;
    for (int k = 0; k < model_.commodities(); ++k) {
      const std::size_t i = at(s) * commodities + at(k);
      const std::vector<int>& ranks = model_.ranks(s, k);
      double sum = 0;
      double mean = 0;
      double square = 0;
      for (std::size_t p = 0; p < ranks.size(); ++p) {
        const double weight = ascent.weights()[i][p];
        sum += weight;
        mean += weight * ranks[p];
        square += weight * ranks[p] * ranks[p];
      }
      open = std::max(open, sum);
      const int first = within.range[i].first;
      const int last = std::min(within.range[i].last, static_cast<int>(ranks.size()));
      const std::pair<double, int> own{square - mean * mean, last - first};
      if (last > first && own > spread) {
        spread = own;
        pair = static_cast<int>(i);
        middle = std::clamp(static_cast<int>(std::floor(mean)), first, last - 1);
      }
    }
    const bool free =
        within.open[at(s)] == Open::kFree && !model_.instance().sites[at(s)].pinned;
    const std::pair<double, double> own{std::min(open, 1 - open),
                                        -std::abs(ascent.opening()[at(s)])};
    if (free && own > doubt) {
      doubt = own;
      site = s;
    }
  }
  std::vector<Restriction> parts;
  if (site >= 0 && (doubt.first > 0.05 || spread.first < 1e-3)) {
    parts.assign(2, within);
    parts[0].open[at(site)] = Open::kYes;
    parts[1].open[at(site)] = Open::kNo;
  } else if (pair >= 0) {
    parts.assign(2, within);
    parts[0].range[at(pair)].last = middle;
    parts[1].range[at(pair)].first = middle + 1;
  }
  for (Restriction& part : parts) tighten(part);
  return parts;
}

}  // namespace isochrone::place
