#include "tools/bench/facility/read_facility.h"

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/read_file.h"

namespace isochrone::bench {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr double kMicro = 1e6;

class Words {
 public:
  Words(std::string path, std::string text)
      : path_(std::move(path)), text_(std::move(text)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", path_, line_, what));
  }

  std::string_view word() {
    skip_space();
    const std::size_t from = position_;
    while (position_ < text_.size() && !space(text_[position_])) ++position_;
    if (from == position_) fail("the file ends too soon");
    return std::string_view(text_).substr(from, position_ - from);
  }

  double number() {
    std::string_view text = word();
    if (text.back() == '.') text.remove_suffix(1);
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (!whole || !std::isfinite(value) || value < 0 || value > 1e12) {
      fail(fmt::format("\"{}\" is no number from 0 to 1e12", text));
    }
    return value;
  }

  std::int64_t micro() { return std::llround(number() * kMicro); }

  std::size_t count() {
    const double value = number();
    if (value < 1 || value > 1e6 || value != std::floor(value)) {
      fail(fmt::format("{} is no count from 1 to 1,000,000", value));
    }
    return static_cast<std::size_t>(value);
  }

  bool next_is(std::string_view expected) {
    skip_space();
    return std::string_view(text_).substr(position_).starts_with(expected);
  }

  void end() {
    skip_space();
    if (position_ != text_.size()) fail("more numbers than the head announces");
  }

 private:
  static bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  void skip_space() {
    for (; position_ < text_.size() && space(text_[position_]); ++position_) {
      if (text_[position_] == '\n') ++line_;
    }
  }

  std::string path_;
  std::string text_;
  std::size_t position_ = 0;
  int line_ = 1;
};

/// What all layouts but the modular one hold.
struct Table {
  std::vector<std::int64_t> capacity;
  std::vector<std::int64_t> fixed;
  std::vector<std::int64_t> demand;
  std::vector<std::vector<std::int64_t>> cost;  // [facility][customer], of all of it

  Table(std::size_t facilities, std::size_t customers)
      : capacity(facilities),
        fixed(facilities),
        demand(customers),
        cost(facilities, std::vector<std::int64_t>(customers)) {}
};

std::int64_t capacity_of(Words& words, const FacilityOptions& options) {
  if (!words.next_is("capacity")) {
    const std::int64_t own = words.micro();
    return options.capacity ? std::llround(*options.capacity * kMicro) : own;
  }
  words.word();
  if (options.uncapacitated) return 0;
  if (!options.capacity) words.fail("says \"capacity\": give it with --capacity");
  return std::llround(*options.capacity * kMicro);
}

Table read_table(Words& words, const FacilityOptions& options) {
  const std::size_t m = words.count();
  const std::size_t n = words.count();
  Table table(m, n);
  const auto demands = [&] {
    for (std::int64_t& demand : table.demand) demand = words.micro();
  };
  if (options.format == FacilityFormat::kUflLib) {
    words.number();
    for (std::size_t i = 0; i < m; ++i) {
      words.number();
      table.fixed[i] = words.micro();
      for (std::int64_t& cost : table.cost[i]) cost = words.micro();
    }
    table.demand.assign(n, static_cast<std::int64_t>(kMicro));
    return table;
  }
  if (options.format == FacilityFormat::kTbed) {
    demands();
    for (std::int64_t& capacity : table.capacity) capacity = words.micro();
    for (std::int64_t& fixed : table.fixed) fixed = words.micro();
    for (auto& row : table.cost) {
      for (std::size_t j = 0; j < n; ++j) {
        row[j] = std::llround(words.number() * static_cast<double>(table.demand[j]));
      }
    }
    return table;
  }
  for (std::size_t i = 0; i < m; ++i) {
    table.capacity[i] = capacity_of(words, options);
    table.fixed[i] = words.micro();
  }
  if (options.format == FacilityFormat::kHolmberg) {
    demands();
    for (auto& row : table.cost) {
      for (std::int64_t& cost : row) cost = words.micro();
    }
    return table;
  }
  for (std::size_t j = 0; j < n; ++j) {
    table.demand[j] = words.micro();
    for (auto& row : table.cost) row[j] = words.micro();
  }
  return table;
}

place::Option option_of(std::vector<std::int64_t> cost,
                        std::vector<std::int64_t> capacity) {
  place::Option option;
  for (std::size_t n = 1; n <= cost.size(); ++n) {
    option.gpus.push_back(static_cast<std::int64_t>(n));
  }
  option.bill = cost;
  option.cost = std::move(cost);
  option.degraded_capacity = capacity;
  option.capacity = std::move(capacity);
  return option;
}

place::Site site_of(std::int64_t fixed, place::Option option, std::size_t customers) {
  place::Site site;
  site.fixed_cost = site.fixed_bill = fixed;
  site.stock = {static_cast<std::int64_t>(option.cost.size())};
  site.options.push_back(std::move(option));
  site.reach = {std::vector<std::uint64_t>((customers + 63) / 64, 0)};
  site.traffic_cost = {std::vector<std::int64_t>(customers, 0)};
  return site;
}

void reach(place::Site& site, std::size_t customer, std::int64_t cost) {
  site.reach[0][customer / 64] |= std::uint64_t{1} << (customer % 64);
  site.traffic_cost[0][customer] = cost;
}

place::Instance instance_of(const std::vector<std::int64_t>& demand) {
  place::Instance instance;
  instance.groups = 1;
  instance.group_premium = {0};
  for (const std::int64_t load : demand) {
    place::DemandRow row;
    row.load = {load};
    instance.demands.push_back(std::move(row));
  }
  return instance;
}

place::Instance read_modular(Words& words) {
  const std::size_t m = words.count();
  const std::size_t n = words.count();
  std::vector<place::Site> sites;
  for (std::size_t i = 0; i < m; ++i) {
    const std::int64_t fixed = words.micro();
    const std::int64_t unit = words.micro();
    const auto most = static_cast<std::int64_t>(words.number());
    if (most > 1'000'000) words.fail("more than 1,000,000 units");
    std::vector<std::int64_t> cost;
    std::vector<std::int64_t> capacity;
    for (std::int64_t units = 1; units <= most; ++units) {
      cost.push_back(units * unit);
      capacity.push_back(units * static_cast<std::int64_t>(kMicro));
    }
    sites.push_back(site_of(fixed, option_of(std::move(cost), std::move(capacity)), n));
  }
  std::vector<std::int64_t> demand(n);
  for (std::int64_t& load : demand) load = words.micro();
  const std::size_t arcs = words.count();
  for (std::size_t a = 0; a < arcs; ++a) {
    const auto j = static_cast<std::size_t>(words.number());
    const auto i = static_cast<std::size_t>(words.number());
    if (i >= m || j >= n) words.fail("an arc of no demand or no site");
    reach(sites[i], j, words.micro());
  }
  words.end();
  place::Instance instance = instance_of(demand);
  std::erase_if(sites, [](const auto& site) { return site.options[0].cost.empty(); });
  instance.sites = std::move(sites);
  return instance;
}

}  // namespace

place::Instance read_facility(const std::string& path, const FacilityOptions& given) {
  Words words(path, read_file(path, kMostBytes));
  FacilityOptions options = given;
  if (words.next_is("FILE:")) {
    options.format = FacilityFormat::kUflLib;
    words.word();
    words.word();
  }
  if (options.format == FacilityFormat::kModular) return read_modular(words);
  const Table table = read_table(words, options);
  words.end();
  std::int64_t total = 0;
  for (const std::int64_t load : table.demand) total += load;
  const bool free = options.uncapacitated || options.format == FacilityFormat::kUflLib;
  place::Instance instance = instance_of(table.demand);
  for (std::size_t i = 0; i < table.fixed.size(); ++i) {
    // More than everything, since plans leave a sliver of every capacity free.
    const std::int64_t capacity = free ? 2 * total : table.capacity[i];
    place::Site site =
        site_of(table.fixed[i], option_of({0}, {capacity}), table.demand.size());
    for (std::size_t j = 0; j < table.demand.size(); ++j) {
      reach(site, j, table.cost[i][j]);
    }
    instance.sites.push_back(std::move(site));
  }
  return instance;
}

}  // namespace isochrone::bench
