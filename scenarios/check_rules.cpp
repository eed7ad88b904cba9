// Checks of horizon, regions, terms, residency, limits, resilience and network.
#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "datasets/pings.h"
#include "geo/corridors.h"
#include "geo/cuts.h"
#include "scenarios/checks.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

template <class List>
bool names(const List& list, std::string_view word) {
  return std::ranges::count(list, word) > 0;
}

/// Asks the network itself, which knows links in either order of their ends.
bool is_known_cut(const geo::NetworkTables& tables, const std::string& cut) {
  try {
    geo::standing_links(tables, std::span(&cut, 1));
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

/// Measurements are believed as they stand; what looks wrong with them is told. Files
/// that the reader could not find are its fault, told already.
void check_measured(const CheckContext& context, const spec::Measured& measured) {
  if (context.vocabulary.fault("file", measured.file()) ||
      context.vocabulary.fault("file", measured.places())) {
    return;
  }
  const auto take = [&](std::span<const Diagnostic> found) {
    for (const Diagnostic& d : found) {
      if (d.severity == Severity::kError) {
        context.faults.error(d.position, d.message, d.hint);
      } else {
        context.faults.warning(d.position, d.message, d.hint);
      }
    }
  };
  try {
    const auto path = [&](const std::string& file) {
      return context.vocabulary.path_of(file);
    };
    const auto file =
        datasets::PingFile::read(path(measured.file()), path(measured.places()));
    take(datasets::misplaced(file, context.vocabulary.catalog()));
    take(file.warnings);
  } catch (const InputError& unreadable) {
    take(unreadable.diagnostics());
  }
}

void check_resilience(const CheckContext& context) {
  const spec::Resilience& resilience = context.spec.resilience();
  const std::string path = "resilience.degraded";
  check_objectives(context, resilience.degraded(), path);
  const bool none = !resilience.has_survive() || resilience.survive() == "none";
  if (none && resilience.has_degraded()) {
    context.warning(path,
                    "resilience.degraded has no effect: no loss must be survived");
  }
  if (!none && !context.given(path)) {
    context.warning("resilience",
                    "resilience.degraded is not given: during a loss any "
                    "latency will do");
  }
  for (const spec::Objective& objective : resilience.degraded().objectives()) {
    double strictest = std::numeric_limits<double>::infinity();
    for (const spec::Workload& workload : context.spec.workloads()) {
      for (const spec::Objective& own : workload.slo().objectives()) {
        if (own.metric() != objective.metric() || own.ms() <= 0 ||
            own.percentile() != objective.percentile()) {
          continue;
        }
        strictest = std::min(strictest, own.ms());
      }
    }
    if (objective.ms() <= 0 || objective.ms() >= strictest) continue;
    const std::string key = objective_key(objective.metric(), objective.percentile());
    context.warning(
        path + "." + key,
        fmt::format(
            "{}.{} is {}, stricter than any workload's own: a loss would have to "
            "make things better",
            path, key, number_text(objective.ms())));
  }
}

void check_unused_rules(const CheckContext& context, bool law, bool policy) {
  const auto idle = [&](const char* key) {
    const std::string path = fmt::format("residency.{}", key);
    if (!context.given(path)) return;
    context.warning(path, fmt::format("{} has no effect in mode {}", path,
                                      context.spec.residency().mode()));
  };
  if (!law) {
    idle("law");
    idle("assume");
  }
  if (!policy) {
    idle("rules");
    idle("otherwise");
  }
}

}  // namespace

void check_horizon(const CheckContext& context) {
  const spec::Horizon& horizon = context.spec.horizon();
  if (!horizon.start().empty() && horizon.start() < horizon.order_date()) {
    context.error("horizon.start",
                  fmt::format("horizon.start is {}, before order_date, {}",
                              horizon.start(), horizon.order_date()));
  }
  if (!context.given("headroom")) {
    context.warning("",
                    "headroom is not given: 1.0 is taken, so capacity just holds the "
                    "10-minute peak");
  }
  const std::string& objective = context.spec.objective();
  if (objective.ends_with("_within_budget") &&
      !context.given("limits.budget_usd_month")) {
    context.error("objective",
                  fmt::format("objective {} needs limits.budget_usd_month", objective));
  }
}

void check_regions(const CheckContext& context) {
  for (const auto& [name, words] : context.spec.regions()) {
    for (const auto& [other, other_words] : context.spec.regions()) {
      const bool same = std::ranges::equal(words.words(), other_words.words());
      if (name <= other || !same || words.words().empty()) continue;
      context.error("regions." + name,
                    fmt::format("regions {} and {} are the same", other, name));
    }
  }
}

void check_terms(const CheckContext& context) {
  const spec::Terms& terms = context.spec.terms();
  // Sorted, as the order of a protobuf map is not fixed.
  for (const std::string term : {"reserved_1y", "spot"}) {
    const std::string path = "terms.discount." + term;
    const auto found = terms.discount().find(term);
    if (found == terms.discount().end()) continue;
    check_low_mid_high(context, found->second, path);
    const auto& discount = found->second;
    if (std::max({discount.low(), discount.mid(), discount.high()}) > 0.95) {
      context.error(path, fmt::format("{} takes more than 0.95 off the price", path));
    }
    if (names(terms.allow(), term)) continue;
    context.warning(path, fmt::format("{} has no effect: terms.allow does not name {}",
                                      path, term));
  }
  if (terms.has_spot() && !names(terms.allow(), "spot")) {
    context.warning("terms.spot",
                    "terms.spot has no effect: terms.allow does not name spot");
  }
  const bool hourly = terms.on_demand().scale() == "hourly";
  for (const char* key : {"min_hours", "warmup_min"}) {
    const std::string path = fmt::format("terms.on_demand.{}", key);
    if (hourly || !context.given(path)) continue;
    context.warning(path, fmt::format("{} has no effect unless scale is hourly", path));
  }
  if (hourly && terms.allow_size() > 0 && !names(terms.allow(), "on_demand")) {
    context.warning(
        "terms.on_demand",
        "terms.on_demand has no effect: terms.allow does not name on_demand");
  }
}

void check_residency(const CheckContext& context) {
  const std::string& mode = context.spec.residency().mode();
  if (mode.empty()) return;  // refused by the reader
  const bool law = mode == "law" || mode == "both";
  const bool policy = mode == "policy" || mode == "both";
  if (law && !context.given("residency.law")) {
    context.error("residency.mode",
                  fmt::format("residency.mode {} needs residency.law, which says what "
                              "mechanisms are in place",
                              mode),
                  "none: write law: {mechanisms: [], unknown: deny}");
  }
  if (policy && !context.given("residency.rules") &&
      !context.given("residency.otherwise")) {
    context.error("residency.mode",
                  fmt::format("residency.mode {} needs residency.rules or "
                              "residency.otherwise",
                              mode));
  }
  check_unused_rules(context, law, policy);
}

void check_limits(const CheckContext& context) {
  const std::string& ready = context.spec.limits().ready_by();
  const spec::Horizon& horizon = context.spec.horizon();
  if (!ready.empty() && !horizon.order_date().empty() && ready < horizon.order_date()) {
    context.error("limits.ready_by",
                  fmt::format("limits.ready_by is {}, before horizon.order_date, {}",
                              ready, horizon.order_date()));
  }
  if (!ready.empty() && !horizon.start().empty() && ready > horizon.start()) {
    context.warning("limits.ready_by",
                    fmt::format("limits.ready_by is {}, after the service starts on {}",
                                ready, horizon.start()));
  }
  check_resilience(context);
}

/// On the shortest path a parallel cable hides a cut: says what it takes all the same.
void check_corridors(const CheckContext& context,
                     const std::vector<std::string>& cuts) {
  const spec::Network& network = context.spec.network();
  if (network.has_reserve_pct() && cuts.empty()) {
    context.warning("network.reserve_pct",
                    "network.reserve_pct has no effect: nothing is cut");
  }
  for (const geo::CorridorLoss& loss :
       geo::corridor_losses(context.vocabulary.catalog().network, cuts)) {
    const std::string taken =
        fmt::format("the cuts take about {:.0f} % of the capacity of {} (estimated)",
                    100 * loss.lost_share, loss.corridor);
    if (!network.has_reserve_pct()) {
      context.warning("network.cut",
                      fmt::format("{}; network.reserve_pct is not given: the {} that "
                                  "are left carry everything",
                                  taken, loss.left));
    } else if (loss.exceeds(network.reserve_pct())) {
      context.warning(
          "network.reserve_pct",
          fmt::format("{}, more than its reserve: it counts as cut", taken));
    }
  }
}

void check_network(const CheckContext& context) {
  const auto& cuts = context.spec.network().cut();
  const geo::NetworkTables& tables = context.vocabulary.catalog().network;
  std::vector<std::string> known;
  for (int i = 0; i < cuts.size(); ++i) {
    if (is_known_cut(tables, cuts.Get(i))) {
      known.push_back(cuts.Get(i));
      continue;
    }
    context.error(fmt::format("network.cut[{}]", i),
                  fmt::format("network.cut[{}] is \"{}\", which is nothing that can be "
                              "cut; expected chokepoint/NAME, cable/NAME, link/A-B or "
                              "country/CC",
                              i, cuts.Get(i)),
                  geo::cut_hint(tables, cuts.Get(i)));
  }
  check_corridors(context, known);
  for (const spec::Measured& measured : context.spec.network().measured()) {
    check_measured(context, measured);
  }
}

}  // namespace isochrone::scenarios
