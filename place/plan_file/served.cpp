#include "place/plan_file/served.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "place/plan_file/table.h"

namespace isochrone::place {
namespace {

/// Users of a region or country, by its name.
using Users = std::string;

/// What of a group of users goes to one country.
struct Stream {
  double requests = 0;
  double rtt_requests = 0;  // ms times requests
  double furthest_ms = 0;
  std::map<std::string, double> sites;  // requests
  std::set<std::string> mechanisms;
};

class Served {
 public:
  Served(const plan::Plan& plan, bool by_country)
      : plan_(plan), by_country_(by_country) {
    for (const plan::Population& p : plan.populations()) {
      users_[{p.demand(), p.metro()}] = &p;
      groups_[{p.demand(), p.country()}].insert(name(p));
    }
    for (const plan::LawNote& note : plan.law()) add_law(note);
    for (const plan::Assignment& a : plan.assignments()) add_assignment(a);
  }

  std::string text() const {
    TextTable table({"users in", "are served in", ">share", "sites", ">mean RTT ms",
                     ">furthest", "lawful by"});
    for (const auto& [group, countries] : streams_) {
      for (const auto& [country, stream] : countries) {
        if (stream.requests <= 0) continue;
        table.add({group, country,
                   fmt::format("{:.1f} %", 100 * stream.requests / total_.at(group)),
                   sites_of(stream),
                   fmt::format("{:.1f}", stream.rtt_requests / stream.requests),
                   fmt::format("{:.1f}", stream.furthest_ms), mechanisms_of(stream)});
      }
      add_reserve(group, countries, table);
    }
    return table.empty() ? "" : "\n" + table.text();
  }

 private:
  Users name(const plan::Population& p) const {
    return by_country_ ? p.region() + ", " + p.country() : p.region();
  }

  /// A mechanism counts where users of the country live in the group.
  void add_law(const plan::LawNote& note) {
    const int known = std::min(note.may_be_in_size(), note.mechanisms_size());
    const auto found = groups_.find({note.demand(), note.country()});
    if (found == groups_.end()) return;
    for (const Users& group : found->second) {
      for (int i = 0; i < known; ++i) {
        streams_[group][note.may_be_in(i)].mechanisms.insert(note.mechanisms(i));
      }
    }
  }

  void add_assignment(const plan::Assignment& a) {
    const auto found = users_.find({a.demand(), a.metro()});
    if (found == users_.end() || a.pool() >= count(plan_.pools_size())) return;
    const plan::Pool& pool = plan_.pools(static_cast<int>(a.pool()));
    if (pool.site() >= count(plan_.sites_size())) return;
    const plan::Site& site = plan_.sites(static_cast<int>(pool.site()));
    const plan::Population& p = *found->second;
    double requests = 0;
    for (int b = 0; b < std::min(a.share_ppb_size(), p.requests_month_size()); ++b) {
      requests += static_cast<double>(p.requests_month(b)) * a.share_ppb(b) / 1e9;
    }
    const double ms = static_cast<double>(a.rtt_us()) / 1e3;
    Stream& stream = streams_[name(p)][site.country()];
    stream.requests += requests;
    stream.rtt_requests += ms * requests;
    stream.furthest_ms = std::max(stream.furthest_ms, ms);
    stream.sites[site.name()] += requests;
    total_[name(p)] += requests;
  }

  static std::uint32_t count(int size) { return static_cast<std::uint32_t>(size); }

  /// The largest first.
  static std::string sites_of(const Stream& stream) {
    std::vector<std::pair<double, std::string>> sites;
    for (const auto& [site, requests] : stream.sites)
      sites.emplace_back(-requests, site);
    std::ranges::sort(sites);
    constexpr std::size_t kTold = 3;
    std::string out;
    for (std::size_t i = 0; i < std::min(kTold, sites.size()); ++i) {
      if (i > 0) out += ", ";
      out += sites[i].second;
      if (sites.size() > 1) {
        out += fmt::format(" {:.0f} %", -100 * sites[i].first / stream.requests);
      }
    }
    if (sites.size() > kTold) out += fmt::format(" and {} more", sites.size() - kTold);
    return out;
  }

  static std::string mechanisms_of(const Stream& stream) {
    if (stream.mechanisms == std::set<std::string>{"off"}) return "residency is off";
    return fmt::to_string(fmt::join(stream.mechanisms, " | "));
  }

  /// Countries that pools of the plan may reach, if only after a loss or in a share too
  /// small to be planned; one row for those of equal mechanisms.
  static void add_reserve(const Users& group,
                          const std::map<std::string, Stream>& countries,
                          TextTable& table) {
    std::map<std::string, std::vector<std::string>> reserve;
    for (const auto& [country, stream] : countries) {
      if (stream.requests <= 0) reserve[mechanisms_of(stream)].push_back(country);
    }
    for (const auto& [mechanisms, names] : reserve) {
      table.add({group, fmt::to_string(fmt::join(names, " ")), "0 %",
                 "may be, e.g. after a loss", "", "", mechanisms});
    }
  }

  const plan::Plan& plan_;
  bool by_country_;
  std::map<std::pair<std::string, std::string>, const plan::Population*> users_;
  std::map<std::pair<std::string, std::string>, std::set<Users>> groups_;
  std::map<Users, std::map<std::string, Stream>> streams_;
  std::map<Users, double> total_;
};

}  // namespace

std::string served_where(const plan::Plan& plan, bool by_country) {
  return Served(plan, by_country).text();
}

}  // namespace isochrone::place
