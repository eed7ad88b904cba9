#include "geo/corridors.h"

#include <algorithm>
#include <array>
#include <map>

#include "geo/cuts.h"

namespace isochrone::geo {
namespace {

// Classes 1 to 4 stand for under 5, 5-20, 20-100 and over 100 Tbit/s; 0: not known.
constexpr std::array<double, 5> kNominalTbps{0, 2.5, 10, 50, 150};

struct System {
  int capacity_class = 0;
  bool lost = false;
};

/// Systems by name, per chokepoint; every land link is one of its own.
using Corridors = std::map<std::string, std::map<std::string, System>>;

Corridors corridors_of(const NetworkTables& tables, const std::vector<bool>& standing) {
  Corridors corridors;
  for (std::size_t i = 0; i < tables.links.size(); ++i) {
    const Link& link = tables.links[i];
    const std::string name =
        link.submarine ? "cable/" + link.name : "link/" + link.from + "-" + link.to;
    for (const std::string& chokepoint : link.chokepoints) {
      System& system = corridors["chokepoint/" + chokepoint][name];
      system.capacity_class = std::max(system.capacity_class, link.capacity_class);
      system.lost = system.lost || !standing[i];
    }
  }
  return corridors;
}

}  // namespace

std::vector<CorridorLoss> corridor_losses(const NetworkTables& tables,
                                          std::span<const std::string> cuts) {
  std::vector<CorridorLoss> losses;
  for (const auto& [corridor, systems] :
       corridors_of(tables, standing_links(tables, cuts))) {
    CorridorLoss loss{corridor, 0, 0};
    double all_tbps = 0;
    for (const auto& [name, system] : systems) {
      const double tbps = kNominalTbps[static_cast<std::size_t>(system.capacity_class)];
      all_tbps += tbps;
      if (system.lost) {
        loss.lost_share += tbps;
      } else {
        ++loss.left;
      }
    }
    if (loss.left == systems.size() || loss.left == 0 || all_tbps == 0) continue;
    loss.lost_share /= all_tbps;
    losses.push_back(loss);
  }
  return losses;
}

std::vector<std::string> with_full_corridors(const NetworkTables& tables,
                                             std::span<const std::string> cuts,
                                             double reserve_pct) {
  std::vector<std::string> closed(cuts.begin(), cuts.end());
  for (const CorridorLoss& loss : corridor_losses(tables, cuts)) {
    if (loss.exceeds(reserve_pct)) closed.push_back(loss.corridor);
  }
  return closed;
}

}  // namespace isochrone::geo
