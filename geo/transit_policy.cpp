#include "geo/transit_policy.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace isochrone::geo {
namespace {

using Key = std::pair<std::string, std::string>;

Key unordered(const std::string& a, const std::string& b) {
  return a < b ? Key{a, b} : Key{b, a};
}

/// Rules by what they name, each with its index.
class RuleBook {
 public:
  explicit RuleBook(std::span<const TransitRule> rules) : rules_(rules) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
      index_[{rules[i].scope, unordered(rules[i].a, rules[i].b)}] = i;
    }
  }

  const TransitRule* find(TransitRule::Scope scope, const Key& key) {
    const auto entry = index_.find({scope, key});
    if (entry == index_.end()) return nullptr;
    used_.insert(entry->second);
    return &rules_[entry->second];
  }

  std::vector<std::size_t> unused() const {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (!used_.contains(i)) rest.push_back(i);
    }
    return rest;
  }

 private:
  std::span<const TransitRule> rules_;
  std::map<std::pair<TransitRule::Scope, Key>, std::size_t> index_;
  std::set<std::size_t> used_;
};

}  // namespace

std::vector<std::size_t> apply_transit_policy(std::span<const TransitRule> rules,
                                              const std::vector<Hub>& hubs,
                                              std::vector<Link>& links) {
  using Scope = TransitRule::Scope;
  RuleBook book(rules);
  std::map<std::string, std::string> countries;
  for (const Hub& hub : hubs) countries[hub.name] = hub.country.text();
  for (Link& link : links) {
    // Every scope is looked up, so that a rule which is always overruled still counts
    // as one that names something.
    const auto* by_link = book.find(Scope::kLink, unordered(link.from, link.to));
    const TransitRule* wide = nullptr;
    if (link.submarine) {
      wide = book.find(Scope::kCable, unordered("", link.name));
    } else {
      const std::string& from = countries[link.from];
      const std::string& to = countries[link.to];
      for (const std::string& country : {from, to}) {
        const auto* rule = book.find(Scope::kCountry, unordered("", country));
        if (rule && (!wide || rule->weight > wide->weight)) wide = rule;
      }
      const auto* border = book.find(Scope::kBorder, unordered(from, to));
      if (border) wide = border;
    }
    if (const auto* rule = by_link ? by_link : wide) link.policy_weight = rule->weight;
  }
  return book.unused();
}

}  // namespace isochrone::geo
