#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "place/plan_file/exports.h"

namespace isochrone::place {
namespace {

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Coordinates with 1e-5 degrees (one metre); NaN, which JSON cannot say, becomes 0.
std::string position(double lat, double lon) {
  const auto rounded = [](double degrees) {
    return std::isfinite(degrees) ? std::round(degrees * 1e5) / 1e5 : 0.0;
  };
  return fmt::format("[{}, {}]", rounded(lon), rounded(lat));
}

using Properties = std::vector<std::pair<std::string, std::string>>;

std::string feature(const std::string& type, const std::string& coordinates,
                    const Properties& properties) {
  std::string out = fmt::format(
      "{{\"type\": \"Feature\", \"geometry\": {{\"type\": \"{}\", \"coordinates\": "
      "{}}}, "
      "\"properties\": {{",
      type, coordinates);
  for (std::size_t i = 0; i < properties.size(); ++i) {
    if (i > 0) out += ", ";
    out += json_text(properties[i].first) + ": " + properties[i].second;
  }
  return out + "}}";
}

std::string site_feature(const plan::Plan& plan, int index) {
  const plan::Site& site = plan.sites(index);
  std::int64_t gpus = 0;
  double usd_month = static_cast<double>(site.fixed_usd_micro()) / 1e6;
  std::string pools;
  for (const plan::Pool& pool : plan.pools()) {
    if (pool.site() != static_cast<std::uint32_t>(index)) continue;
    gpus += pool.gpus();
    usd_month += static_cast<double>(pool.gpus()) *
                 static_cast<double>(pool.bill_usd_micro_per_gpu_month()) / 1e6;
    if (!pools.empty()) pools += "; ";
    pools +=
        fmt::format("{}: {} x {} tp{} at batch {}", pool.workload(), pool.replicas(),
                    pool.gpu(), pool.tensor_parallel(), pool.max_num_seqs());
  }
  return feature("Point", position(site.lat(), site.lon()),
                 {{"kind", "\"site\""},
                  {"name", json_text(site.name())},
                  {"city", json_text(site.city())},
                  {"country", json_text(site.country())},
                  {"gpus", fmt::to_string(gpus)},
                  {"usd_month", fmt::format("{:.2f}", usd_month)},
                  {"pools", json_text(pools)}});
}

using PopulationKey = std::pair<std::string, std::string>;

/// A line's share is the mean over the blocks, each counted alike.
double mean_share(const plan::Assignment& assignment) {
  double sum = 0;
  for (const std::uint32_t ppb : assignment.share_ppb()) sum += ppb;
  return assignment.share_ppb_size() == 0 ? 0 : sum / assignment.share_ppb_size() / 1e9;
}

}  // namespace

std::string to_geojson(const plan::Plan& plan) {
  std::vector<std::string> features;
  for (int i = 0; i < plan.sites_size(); ++i) features.push_back(site_feature(plan, i));
  std::map<PopulationKey, const plan::Population*> populations;
  for (const plan::Population& population : plan.populations()) {
    populations.emplace(PopulationKey(population.demand(), population.metro()),
                        &population);
    features.push_back(feature("Point", position(population.lat(), population.lon()),
                               {{"kind", "\"population\""},
                                {"demand", json_text(population.demand())},
                                {"metro", json_text(population.metro())},
                                {"country", json_text(population.country())},
                                {"users", fmt::format("{:.1f}", population.users())}}));
  }
  for (const plan::Assignment& assignment : plan.assignments()) {
    const auto from = populations.find({assignment.demand(), assignment.metro()});
    if (from == populations.end() ||
        assignment.pool() >= static_cast<std::uint32_t>(plan.pools_size())) {
      continue;
    }
    const std::uint32_t to = plan.pools(static_cast<int>(assignment.pool())).site();
    if (to >= static_cast<std::uint32_t>(plan.sites_size())) continue;
    const plan::Site& site = plan.sites(static_cast<int>(to));
    features.push_back(feature(
        "LineString",
        fmt::format("[{}, {}]", position(from->second->lat(), from->second->lon()),
                    position(site.lat(), site.lon())),
        {{"kind", "\"assignment\""},
         {"demand", json_text(assignment.demand())},
         {"metro", json_text(assignment.metro())},
         {"site", json_text(site.name())},
         {"rtt_ms",
          fmt::format("{:.3f}", static_cast<double>(assignment.rtt_us()) / 1e3)},
         {"rtt_basis", json_text(assignment.rtt_basis())},
         {"reach_ms",
          fmt::format("{:.3f}", static_cast<double>(assignment.reach_us()) / 1e3)},
         {"mean_share", fmt::format("{:.6f}", mean_share(assignment))}}));
  }
  return fmt::format("{{\"type\": \"FeatureCollection\", \"features\": [\n{}\n]}}\n",
                     fmt::join(features, ",\n"));
}

}  // namespace isochrone::place
