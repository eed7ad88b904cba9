#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "geo/network.h"

namespace isochrone::geo {

/// Traffic avoids some links, though they are short: because of a closed border, a
/// monopoly's price, war, or because the networks on both sides meet elsewhere.
struct TransitRule {
  enum class Scope {
    kCountry,  ///< land links that touch a hub of country `a`
    kBorder,   ///< land links between countries `a` and `b`
    kCable,    ///< all segments of submarine system `a`
    kLink,     ///< everything between hubs `a` and `b`, land or sea
  };
  Scope scope = Scope::kCountry;
  std::string a;
  std::string b;
  double weight = 1;
};

/// Sets policy_weight of every link that a rule names; the narrowest scope wins (link,
/// then cable or border, then the larger of two countries), and links that no rule
/// names keep their weight. Returns the indices of rules that name no link at all: a
/// spelling mistake, or a link that went out of service.
std::vector<std::size_t> apply_transit_policy(std::span<const TransitRule> rules,
                                              const std::vector<Hub>& hubs,
                                              std::vector<Link>& links);

}  // namespace isochrone::geo
