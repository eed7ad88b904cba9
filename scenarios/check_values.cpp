// Checks that several parts of a scenario share.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scenarios/checks.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

constexpr double kNormalP99 = 2.3263478740408408;

/// A lognormal has p99 / mean = exp(z s - s^2 / 2), which is largest, exp(z^2 / 2), at
/// s = z. Up to there one s below z exists; beyond, none at all.
void check_lognormal(const CheckContext& context, const spec::Lognormal& law,
                     const std::string& path) {
  if (law.mean() <= 0 || law.p99() <= 0) return;  // refused by the reader
  if (law.p99() <= law.mean()) {
    context.error(path + ".p99",
                  fmt::format("{}.p99 is {}, expected more than the "
                              "mean of {}",
                              path, number_text(law.p99()), number_text(law.mean())));
    return;
  }
  const double largest = std::exp(kNormalP99 * kNormalP99 / 2);
  if (law.p99() / law.mean() <= largest) return;
  context.error(
      path + ".p99",
      fmt::format("{}.p99 is {:.1f} times the mean; no lognormal law has more "
                  "than {:.2f} times",
                  path, law.p99() / law.mean(), largest));
}

}  // namespace

void check_law(const CheckContext& context, const spec::Law& law,
               const std::string& path) {
  if (law.has_lognormal()) {
    check_lognormal(context, law.lognormal(), path + ".lognormal");
  }
  if (law.has_uniform() && law.uniform().min() > law.uniform().max()) {
    context.error(path + ".uniform.min",
                  fmt::format("{0}.uniform.min is {1}, expected at most max, {2}", path,
                              number_text(law.uniform().min()),
                              number_text(law.uniform().max())));
  }
}

void check_low_mid_high(const CheckContext& context, const spec::LowMidHigh& range,
                        const std::string& path) {
  const bool whole = context.given(path + ".low") && context.given(path + ".mid") &&
                     context.given(path + ".high");
  if (!whole || (range.low() <= range.mid() && range.mid() <= range.high())) return;
  context.error(path, fmt::format("{} is {}, {}, {}; expected low <= mid <= high", path,
                                  number_text(range.low()), number_text(range.mid()),
                                  number_text(range.high())));
}

void check_objectives(const CheckContext& context, const spec::Slo& slo,
                      const std::string& path) {
  for (const spec::Objective& strict : slo.objectives()) {
    for (const spec::Objective& other : slo.objectives()) {
      if (strict.metric() != other.metric() || strict.ms() <= 0 || other.ms() <= 0 ||
          strict.percentile() <= other.percentile() || strict.ms() >= other.ms()) {
        continue;
      }
      const std::string key = objective_key(other.metric(), other.percentile());
      context.warning(path + "." + key,
                      fmt::format("{}.{} has no effect: {} asks for more", path, key,
                                  objective_key(strict.metric(), strict.percentile())));
    }
  }
}

void check_place(const CheckContext& context, const std::string& city,
                 const std::string& country, const std::string& path) {
  const bool named = context.given(path + ".city");
  const bool lat = context.given(path + ".lat");
  const bool lon = context.given(path + ".lon");
  if (lat != lon) {
    context.error(path, fmt::format("{} has {} without {}", path, lat ? "lat" : "lon",
                                    lat ? "lon" : "lat"));
    return;
  }
  if (!named && !lat) {
    context.error(path, fmt::format("{} has neither city nor lat and lon", path));
    return;
  }
  const auto code = geo::CountryCode::parse(country);
  if (lat || city.empty() || !code) return;
  std::vector<std::string> cities;
  const auto& catalog = context.vocabulary.catalog();
  for (const auto& metro : catalog.metros) {
    if (metro.country == *code) cities.push_back(metro.name);
  }
  for (const auto& location : catalog.locations) {
    if (location.country == *code) cities.push_back(location.city);
  }
  if (std::ranges::count(cities, city) > 0) return;
  const std::string near = did_you_mean(city, cities);
  context.error(path + ".city",
                fmt::format("{}.city is \"{}\", which is no known city of {}", path,
                            city, country),
                near.empty() ? "give lat and lon instead" : near);
}

}  // namespace isochrone::scenarios
