#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "scenarios/checks.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

const spec::Workload* workload_of(const CheckContext& context,
                                  const spec::Demand& entry) {
  const auto& workloads = context.spec.workloads();
  const auto found =
      std::ranges::find(workloads, entry.workload(), &spec::Workload::name);
  return found == workloads.end() ? nullptr : &*found;
}

void check_workload(const CheckContext& context, const spec::Demand& entry,
                    const std::string& path) {
  if (entry.workload().empty()) return;  // refused by the reader
  const spec::Workload* workload = workload_of(context, entry);
  if (workload == nullptr) {
    if (context.spec.workloads().empty()) return;  // refused by the reader
    std::vector<std::string> known;
    for (const auto& other : context.spec.workloads()) known.push_back(other.name());
    context.error(path + ".workload",
                  fmt::format("{}.workload is \"{}\", which is no workload", path,
                              entry.workload()),
                  did_you_mean(entry.workload(), known));
    return;
  }
  if (workload->kind() == "batch") {
    context.error(
        path + ".workload",
        fmt::format("{}.workload is \"{}\", a batch workload; its work stands "
                    "in its batch and needs no demand",
                    path, entry.workload()));
    return;
  }
  check_metrics(context, *workload, entry.slo(), path + ".slo");
}

/// Who asks: `users` with or without `regions`, or `at`.
void check_who(const CheckContext& context, const spec::Demand& entry,
               const std::string& path) {
  const bool at = context.given(path + ".at");
  const bool users = context.given(path + ".users");
  const bool regions = context.given(path + ".regions");
  for (const char* key : {"users", "regions", "metros_max"}) {
    const std::string other = fmt::format("{}.{}", path, key);
    if (!at || !context.given(other)) continue;
    context.error(other, fmt::format("{} is given beside at, which is one place; give "
                                     "at with rps_peak, or users without at",
                                     other));
  }
  if (at) return;
  const bool per_country = entry.users().by_country_size() > 0;
  if (per_country && regions) {
    context.error(path + ".regions",
                  fmt::format("{}.regions is given beside users per country, which say "
                              "where they are",
                              path));
  }
  const bool total = entry.users().has_total();
  if (total && !regions) {
    context.error(path + ".users",
                  fmt::format("{}.users is a total and there are no regions to spread "
                              "it over",
                              path));
  }
  if (!users && !regions) {
    context.error(path, fmt::format("{} says neither users nor regions nor at: nobody "
                                    "asks",
                                    path));
  }
  const bool refused = context.given(path + ".regions[0]");  // told by the reader
  if (regions && !refused && entry.regions().empty() && !per_country) {
    context.error(path + ".regions", fmt::format("{}.regions is empty", path));
  }
  const auto& by_country = entry.users().by_country();
  if (per_country && std::ranges::all_of(by_country, [](const auto& pair) {
        return pair.second <= 0;
      })) {
    context.error(path + ".users", fmt::format("{}.users are all 0", path));
  }
}

/// How much: `rps_peak`, or users times `requests_per_user_day`.
void check_load(const CheckContext& context, const std::string& path) {
  const bool peak = context.given(path + ".rps_peak");
  const bool users = context.given(path + ".users");
  const bool at = context.given(path + ".at");
  const bool requests = context.given(path + ".requests_per_user_day");
  if (peak && (users || requests)) {
    context.error(path + ".rps_peak",
                  fmt::format("{}.rps_peak is given beside {}; the load is either",
                              path, users ? "users" : "requests_per_user_day"));
  } else if (!peak && !requests) {
    context.error(
        path, fmt::format("{} has neither requests_per_user_day nor rps_peak", path));
  } else if (!peak && !users && (context.given(path + ".regions") || at)) {
    context.error(path, fmt::format("{} has no users to make its requests", path));
  }
}

void check_profile(const CheckContext& context, const spec::Demand& entry,
                   const std::string& path) {
  const auto& hours = entry.daily_profile().hours();
  if (hours.empty() || std::ranges::any_of(hours, [](double h) { return h > 0; })) {
    return;
  }
  context.error(path + ".daily_profile",
                fmt::format("{}.daily_profile is all 0", path));
}

void check_burstiness(const CheckContext& context, const spec::Demand& entry,
                      const std::string& path) {
  if (!entry.has_burstiness() || !context.given(path + ".burstiness.cv")) return;
  const double cv = entry.burstiness().cv();
  if (cv >= 1) return;
  context.warning(path + ".burstiness.cv",
                  fmt::format("{}.burstiness.cv is {}: arrivals more even than chance "
                              "are not modelled, and it is planned for a Poisson "
                              "stream (cv 1), which needs more",
                              path, number_text(cv)));
}

void check_coverage(const CheckContext& context, const spec::Demand& entry,
                    const std::string& path) {
  const bool partial = entry.has_coverage() && entry.coverage() < 1;
  if (partial && entry.unserved_usd_user_month() <= 0) {
    context.warning(path + ".coverage",
                    fmt::format("{}.coverage lets users go unserved for nothing; "
                                "unserved_usd_user_month is their price",
                                path));
  }
  if (!partial && entry.unserved_usd_user_month() > 0) {
    context.warning(path + ".unserved_usd_user_month",
                    fmt::format("{}.unserved_usd_user_month has no effect at full "
                                "coverage",
                                path));
  }
}

}  // namespace

void check_demand(const CheckContext& context) {
  std::set<std::string> names;
  for (int i = 0; i < context.spec.demand_size(); ++i) {
    const spec::Demand& entry = context.spec.demand(i);
    const std::string path = fmt::format("demand[{}]", i);
    if (!entry.name().empty() && !names.insert(entry.name()).second) {
      context.error(path + ".name",
                    fmt::format("two demand entries are named \"{}\"", entry.name()));
    }
    check_workload(context, entry, path);
    check_who(context, entry, path);
    check_load(context, path);
    if (entry.has_at()) {
      check_place(context, entry.at().city(), entry.at().country(), path + ".at");
    };
    check_profile(context, entry, path);
    check_burstiness(context, entry, path);
    check_coverage(context, entry, path);
    check_objectives(context, entry.slo(), path + ".slo");
  }
  const bool has_batch = std::ranges::any_of(
      context.spec.workloads(), [](const auto& w) { return w.kind() == "batch"; });
  if (!context.given("demand[0]") && !has_batch && context.given("workloads[0]")) {
    context.error("demand",
                  "nobody asks for anything: there is no demand entry and no "
                  "batch workload");
  }
}

}  // namespace isochrone::scenarios
