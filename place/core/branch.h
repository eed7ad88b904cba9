#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "place/core/dual_ascent.h"
#include "place/core/instance.h"

namespace isochrone::place {

/// Lagrangian branch and bound: splits all plans by what a site may do (open or not,
/// then how much capacity) and lifts the bound of each part by a short ascent from its
/// parent's prices. Parts are taken in batches of fixed size, the least bound first, so
/// the tree does not depend on threads.
class Branching {
 public:
  /// A plan in the neighbourhood of an ascent's average answer that costs less than
  /// `beat`. Called from several
  /// threads; depends on the ascent alone.
  using Round = std::function<std::optional<Solution>(const DualAscent& ascent,
                                                      std::optional<double> beat)>;
  /// Prices at which a part that cannot be split is worth what it costs, or more than
  /// `enough`; nullopt if nobody knows.
  using Price =
      std::function<std::optional<Prices>(const Restriction& within, double enough)>;

  /// `root` has been run. `best` is the best plan known, if any.
  Branching(const Model& model, const DualAscent& root, std::optional<Solution> best,
            double gap);

  Round round;
  Price price;
  /// Polled between batches; true ends the search.
  std::function<bool()> stop;
  /// Called between batches.
  std::function<void(const Branching&)> progress;

  void run(std::int64_t nodes);

  const std::optional<Solution>& best() const { return best_; }
  /// No plan costs less, by doubles.
  double bound() const;
  /// The parts that the tree came apart into, closed or not.
  std::vector<PartProof> proofs() const;
  std::int64_t nodes() const { return nodes_; }
  std::int64_t steps() const { return steps_; }

 private:
  struct Node {
    Restriction within;
    std::shared_ptr<const Prices> prices;
    double bound = 0;
    std::int64_t id = 0;
  };
  struct Result {
    double bound = 0;
    std::int64_t steps = 0;
    std::shared_ptr<const Prices> prices;
    std::optional<Solution> plan;
    std::vector<Restriction> parts;             // none: the node is done with
    std::vector<PartProof::Excluded> excluded;  // at these prices
  };
  /// Why a part needs no further look.
  struct Proof {
    Restriction within;
    std::shared_ptr<const Prices> prices;
    std::vector<PartProof::Excluded> excluded;
  };

  double cutoff() const;
  Result process(const Node& node) const;
  void tighten(Restriction& within) const;
  std::vector<PartProof::Excluded> fix(const DualAscent& ascent,
                                       Restriction& within) const;
  void close(Node& node, const std::shared_ptr<const Prices>& prices, double bound);
  std::vector<Restriction> split(const DualAscent& ascent,
                                 const Restriction& within) const;

  const Model& model_;
  const DualAscent& root_;
  std::optional<Solution> best_;
  double gap_;
  std::vector<Node> open_;  // heap: least bound first
  double least_closed_;
  std::vector<Proof> proofs_;
  std::int64_t nodes_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace isochrone::place
