// Writes docs/beliefs.md: what people say about placing GPUs, against what the tables
// say. Every figure is computed here from the catalog; a test compares the page with
// what this program prints, so that it cannot grow old unseen.
#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "datasets/catalog.h"
#include "geo/network.h"
#include "scenarios/residency.h"

namespace isochrone::tools {
namespace {

using datasets::Catalog;
using datasets::GpuId;
using datasets::PriceRow;
using datasets::Site;
using datasets::StepProfile;

constexpr double kContext = 725;  // prompt of 600, half of an answer of 250
constexpr double kPrompt = 600;
constexpr double kAnswer = 250;
constexpr double kPaceMs = 33;  // 30 tokens a second

double dollars(const PriceRow& row) {
  return static_cast<double>(row.usd_per_gpu_hour.count()) / 1e6;
}

/// Cheapest on-demand price of a GPU in shapes that hold `gpus`, where `admits` a row.
template <class Admits>
std::optional<double> cheapest(const Catalog& catalog, GpuId gpu, int gpus,
                               Admits admits) {
  std::optional<double> best;
  for (const PriceRow& row : catalog.prices) {
    if (row.gpu != gpu || row.term != datasets::Term::kOnDemand || !admits(row))
      continue;
    // Four pieces of one in four machines are no group of four.
    if (row.shape_gpus < gpus) continue;
    if (!best || dollars(row) < *best) best = dollars(row);
  }
  return best;
}

bool rented_from(const Catalog& catalog, const PriceRow& row, const char* site) {
  return row.site && catalog.sites[*row.site].id == site;
}

bool other_clouds(const PriceRow& row) {
  return row.tier == datasets::Tier::kNeocloud || row.tier == datasets::Tier::kCloud;
}

double step_ms(const StepProfile& profile, double batch) {
  const datasets::StepTimes& t = profile.step;
  return (static_cast<double>(t.t0) + static_cast<double>(t.b) * batch +
          static_cast<double>(t.c) * batch * kContext) /
         1e9;
}

/// Answers that a replica may hold at 30 tokens a second within its cache; 0: not one.
int full_batch(const StepProfile& profile) {
  const double cache = static_cast<double>(profile.kv_blocks) *
                       static_cast<double>(profile.kv_block_tokens) /
                       (kPrompt + kAnswer);
  int batch = 0;
  while (batch < 256 && batch + 1 <= cache && step_ms(profile, batch + 1) <= kPaceMs) {
    ++batch;
  }
  return batch;
}

/// Answer tokens a second of a replica that holds `batch` answers; each answer's
/// prefill stops the others.
double tokens_per_s(const StepProfile& profile, int batch) {
  const double prefill_ms = static_cast<double>(profile.step.a) * kPrompt / 1e9;
  const double answer_ms = kAnswer * step_ms(profile, batch) + batch * prefill_ms;
  return 1000 * batch * kAnswer / answer_ms;
}

double usd_per_million(const StepProfile& profile, double usd_gpu_hour, int batch) {
  return usd_gpu_hour * profile.tensor_parallel / 3600 / tokens_per_s(profile, batch) *
         1e6;
}

const StepProfile* profile(const Catalog& catalog, const std::string& id) {
  const auto found = std::ranges::find(catalog.profiles, id, &StepProfile::id);
  return found == catalog.profiles.end() ? nullptr : &*found;
}

std::string cost_at(const StepProfile& one, double price, int batch) {
  return batch > full_batch(one) && batch > 1
             ? "-"
             : fmt::format("{:.2f}", usd_per_million(one, price, batch));
}

/// The set-ups of one model at the prices that `admits` lets through, and which of them
/// is cheapest with one answer and with full batches.
template <class Admits>
std::string cost_rows(const Catalog& catalog, const std::vector<std::string>& ids,
                      Admits admits) {
  std::string text;
  std::pair<double, std::string> idle{1e9, ""}, full_load{1e9, ""};
  for (const std::string& id : ids) {
    const StepProfile* one = profile(catalog, id);
    if (one == nullptr) continue;
    const auto price = cheapest(catalog, one->gpu, one->tensor_parallel, admits);
    if (!price) continue;
    const int full = full_batch(*one);
    idle = std::min(idle, {usd_per_million(*one, *price, 1), id});
    if (full > 0) {
      full_load = std::min(full_load, {usd_per_million(*one, *price, full), id});
    }
    text += fmt::format(
        "| {} | {:.2f} | {} | {} | {} | {} |\n", id, *price, cost_at(*one, *price, 1),
        cost_at(*one, *price, 4), cost_at(*one, *price, 16),
        full == 0
            ? "does not reach it"
            : fmt::format("{:.2f} with {}", usd_per_million(*one, *price, full), full));
  }
  return "\n| set-up | $/GPU-h | 1 answer | 4 | 16 | full at 30 tok/s |\n"
         "|---|---|---|---|---|---|\n" +
         text +
         fmt::format("\nCheapest with one answer: {}; full: {}.\n", idle.second,
                     full_load.second);
}

std::string cheaper_gpus(const Catalog& catalog) {
  const std::vector<std::string> small{"llama-3.1-8b/L40S-48GB/tp1/fp8",
                                       "llama-3.1-8b/A100-80GB-SXM/tp1/bf16",
                                       "llama-3.1-8b/H100-80GB-SXM/tp1/fp8"};
  const std::vector<std::string> large{
      "llama-3.1-70b/L40S-48GB/tp2/fp8", "llama-3.1-70b/A100-80GB-SXM/tp4/bf16",
      "llama-3.1-70b/H100-80GB-SXM/tp4/fp8", "llama-3.1-70b/H200-141GB-SXM/tp2/fp8"};
  const auto at_aws = [&](const PriceRow& row) {
    return rented_from(catalog, row, "aws/us-east-1");
  };
  std::string text =
      "## \"L40S and A100 serve cheaper than H100\"\n\nIt depends on the load and on "
      "the "
      "price list; under load it is false. Dollars per million answer tokens, prompts "
      "of "
      "600 and answers of 250, on demand in a shape that holds the group. At AWS in "
      "Virginia:\n";
  text += cost_rows(catalog, small, at_aws) + cost_rows(catalog, large, at_aws);
  text += "\nAt the lowest price of any neocloud or cloud:\n";
  text +=
      cost_rows(catalog, small, other_clouds) + cost_rows(catalog, large, other_clouds);
  return text +
         "\nSplitting demand over many sites empties the batches: a site is a "
         "cost.\n\n";
}

std::string discount(const Catalog& catalog) {
  const GpuId h100 = *catalog.gpu("H100-80GB-SXM");
  std::vector<double> others;
  std::map<std::string, double> lowest;
  for (const PriceRow& row : catalog.prices) {
    if (row.gpu != h100 || row.term != datasets::Term::kOnDemand) continue;
    if (row.tier == datasets::Tier::kMarketplace) continue;
    auto& low = lowest.try_emplace(row.provider, 1e9).first->second;
    low = std::min(low, dollars(row));
  }
  std::string text =
      "## \"Neoclouds are 60 to 80 % cheaper\"\n\nIt depends on the reference. Lowest "
      "on-demand price of an H100 SXM at each provider, in any shape and region:\n\n"
      "| hyperscaler | $/GPU-h | dearest neocloud or cloud below it | cheapest |\n"
      "|---|---|---|---|\n";
  const std::set<std::string> hyperscalers{"aws", "azure", "gcp", "oci"};
  for (const auto& [provider, price] : lowest) {
    if (!hyperscalers.contains(provider)) others.push_back(price);
  }
  std::ranges::sort(others);
  for (const auto& [provider, price] : lowest) {
    if (!hyperscalers.contains(provider) || others.empty()) continue;
    double dearest = 0;
    for (const double other : others) {
      if (other < price) dearest = std::max(dearest, other);
    }
    text += fmt::format("| {} | {:.2f} | {:.0f} % less | {:.0f} % less |\n", provider,
                        price, 100 * (1 - dearest / price),
                        100 * (1 - others.front() / price));
  }
  return text +
         fmt::format("\n{} other providers ask {:.2f} to {:.2f}, median {:.2f}.\n\n",
                     others.size(), others.front(), others.back(),
                     others[others.size() / 2]);
}

std::string egress(const Catalog& catalog) {
  const Site& virginia = catalog.sites[*catalog.site("aws/us-east-1")];
  const datasets::EgressPrice list = catalog.egress(virginia);
  const double first =
      list.tiers.size() > 1 ? list.tiers[1].usd_per_gb : list.tiers[0].usd_per_gb;
  const StepProfile* h100 = profile(catalog, "llama-3.1-70b/H100-80GB-SXM/tp4/fp8");
  const StepProfile* small = profile(catalog, "llama-3.1-8b/H100-80GB-SXM/tp1/fp8");
  const auto price = cheapest(
      catalog, *catalog.gpu("H100-80GB-SXM"), 8,
      [&](const PriceRow& row) { return rented_from(catalog, row, "aws/us-east-1"); });
  const auto share = [&](const StepProfile& one, double bytes) {
    const double gpu = usd_per_million(one, *price, full_batch(one));
    return 100 * bytes * 1e6 / 1e9 * first / gpu;
  };
  return fmt::format(
      "## \"Egress doubles the bill\"\n\nNot for text. At AWS in Virginia the first "
      "paid "
      "gigabyte costs ${:.3f}. Against the H100 hours of the same tokens at ${:.2f} "
      "and "
      "full batches, 150 to 300 bytes a streamed token are {:.1f} to {:.1f} % for a "
      "70B "
      "model and {:.0f} to {:.0f} % for an 8B model. For sound, images and video it "
      "can "
      "be most of the bill: a 25 MB clip costs {:.4f} $.\n\n",
      first, *price, share(*h100, 150), share(*h100, 300), share(*small, 150),
      share(*small, 300), 0.025 * first);
}

std::string where(const Catalog& catalog) {
  std::set<geo::CountryCode> big_three, rentable, all;
  std::set<std::uint32_t> rentable_places, all_places, priced_places;
  std::set<geo::CountryCode> priced;
  for (std::uint32_t i = 0; i < catalog.sites.size(); ++i) {
    const Site& site = catalog.sites[datasets::SiteId{i}];
    all.insert(site.country);
    all_places.insert(site.location.value);
    if (site.site_class != datasets::SiteClass::kRentable) continue;
    rentable.insert(site.country);
    rentable_places.insert(site.location.value);
    if (site.provider == "aws" || site.provider == "azure" || site.provider == "gcp") {
      big_three.insert(site.country);
    }
    if (catalog.prices_at(datasets::SiteId{i}).empty()) continue;
    priced.insert(site.country);
    priced_places.insert(site.location.value);
  }
  return fmt::format(
      "## \"200 and more locations in 93 countries\"\n\nOnly where colocation counts: "
      "{} "
      "locations in {} countries in all. GPUs for rent were seen in {} locations in {} "
      "countries, with a usable price in {} and {}. The rest must be built.\n\n"
      "## \"Hyperscalers offer GPUs in fewer than 30 countries\"\n\n{}: AWS, Azure and "
      "Google together in {}.\n\n",
      all_places.size(), all.size(), rentable_places.size(), rentable.size(),
      priced_places.size(), priced.size(), big_three.size() < 30 ? "True" : "False",
      big_three.size());
}

std::string latency(const Catalog& catalog) {
  const geo::NetworkModel network(catalog.network);
  const Site& virginia = catalog.sites[*catalog.site("aws/us-east-1")];
  const geo::Endpoint to{virginia.id, virginia.country, virginia.at};
  std::string text =
      "## \"150 ms is enough for the whole world\"\n\nFrom Virginia alone it is not. "
      "Modelled round trip on the public Internet and the country's median last mile, "
      "to ten milliseconds:\n\n| users in | path | last mile | together |\n"
      "|---|---|---|---|\n";
  for (const char* id : {"us-new-york-city", "gb-london", "de-frankfurt-am-main",
                         "br-sao-paulo", "ae-dubai", "ke-nairobi", "in-mumbai",
                         "jp-tokyo", "sg-singapore", "id-jakarta", "au-sydney"}) {
    const auto found = catalog.metro(id);
    if (!found) continue;
    const datasets::Metro& metro = catalog.metros[*found];
    const geo::Endpoint from{metro.name, metro.country, metro.at};
    const auto route = network.route(geo::Regime::kPublic, from, to);
    const double path = static_cast<double>(route.total.rtt.count()) / 1000;
    const double mile =
        catalog.countries[*catalog.country(metro.country)].access.p50_ms;
    text += fmt::format("| {} | {:.0f} ms | {:.0f} ms | {:.0f} ms |\n", metro.name,
                        10 * std::round(path / 10), mile,
                        10 * std::round((path + mile) / 10));
  }
  return text + "\n";
}

std::string verdict(const Catalog& catalog, const char* from, const char* data,
                    const char* to, const char* mechanisms) {
  const scenarios::Scenario scenario = scenarios::parse_scenario(
      fmt::format(
          "name: law\nhorizon: {{order_date: 2026-12-01, start: 2027-01-01, "
          "months: 12}}\nworkloads: [{{name: w, kind: service, service_ms: "
          "{{constant: 1}}, streams_per_gpu: 1, data: [{}], slo: {{e2e_p95_ms: "
          "1000}}}}]\ndemand: [{{name: d, workload: w, users: {{\"{}\": 1}}, "
          "requests_per_user_day: 1, daily_profile: flat, access: none}}]\n"
          "residency: {{mode: law, law: {{mechanisms: [{}], unknown: deny}}}}\n",
          data, from, mechanisms),
      "(law)", ".", catalog);
  const auto read =
      scenarios::ResidencyRules(scenario, catalog)
          .verdict(*geo::CountryCode::parse(from), 0, *geo::CountryCode::parse(to));
  return read.allowed ? "allowed (" + read.mechanism + ")"
                      : (read.unknown ? "unknown" : "forbidden");
}

std::string law(const Catalog& catalog) {
  struct Case {
    const char* from;
    const char* data;
    const char* to;
    const char* mechanisms;
  };
  std::string text =
      "## \"HIPAA, DORA and MiFID II keep the data at home\"\n\nThey do not. They ask "
      "for "
      "contracts, audits and risk analysis; what binds a place are transfer rules, "
      "national health and payment laws, and a company's own policy. \"US-East for a "
      "Frankfurt desk is not compliant\" is a policy, not the text. Read by the table, "
      "not legal advice:\n\n| users in | data | processed in | with | verdict |\n"
      "|---|---|---|---|---|\n";
  for (const Case& one :
       {Case{"US", "health", "IE", "baa"}, Case{"US", "health", "IE", ""},
        Case{"DE", "financial", "US", ""}, Case{"DE", "financial", "US", "dpf"},
        Case{"DE", "financial", "FR", ""}, Case{"FR", "health", "DE", "certification"},
        Case{"FR", "health", "US", "certification, dpf, scc"},
        Case{"DE", "health", "AT", "certification"}, Case{"IN", "general", "US", ""},
        Case{"IN", "financial", "US", "scc, approval"},
        Case{"KH", "general", "SG", ""}}) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", one.from, one.data, one.to,
                        *one.mechanisms == '\0' ? "nothing" : one.mechanisms,
                        verdict(catalog, one.from, one.data, one.to, one.mechanisms));
  }
  return text + "\n";
}

std::string pace(const Catalog& catalog) {
  std::map<std::string, std::pair<int, int>> counts;  // model -> all, at 30 tok/s
  for (const StepProfile& one : catalog.profiles) {
    auto& [all, fast] = counts[catalog.models[one.model].id];
    ++all;
    fast += full_batch(one) > 0;
  }
  std::string text =
      "## \"Any of these GPUs streams 30 tokens a second\"\n\nNot every set-up does, "
      "even "
      "with one answer in flight; `isochrone catalog profiles` names them.\n\n"
      "| model | set-ups | reach 30 tok/s |\n|---|---|---|\n";
  for (const auto& [model, count] : counts) {
    text += fmt::format("| {} | {} | {} |\n", model, count.first, count.second);
  }
  return text;
}

std::string page(const Catalog& catalog) {
  return "# Beliefs, and what the tables say\n\nWritten by `isochrone_beliefs` from "
         "`datasets/`; a test fails when the page and the tables differ "
         "(`cmake --build --preset release --target accept-beliefs` writes it "
         "anew).\n\n" +
         cheaper_gpus(catalog) + discount(catalog) + egress(catalog) + where(catalog) +
         latency(catalog) + law(catalog) + pace(catalog);
}

}  // namespace
}  // namespace isochrone::tools

int main(int argc, char** argv) {
  using namespace isochrone;
  if (argc != 3) {
    std::cerr << "usage: isochrone_beliefs DATASETS OUTPUT\n";
    return 2;
  }
  try {
    const datasets::Catalog catalog = datasets::Catalog::load(argv[1]);
    std::ofstream out(argv[2], std::ios::binary);
    out << tools::page(catalog);
    out.flush();
    return out ? 0 : 1;
  } catch (const std::exception& fault) {
    std::cerr << fault.what() << '\n';
    return 1;
  }
}
