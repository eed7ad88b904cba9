#pragma once

#include <array>
#include <string>

#include "datasets/catalog.h"
#include "scenarios/calendar.h"
#include "scenarios/demand.h"

namespace isochrone::scenarios {

/// Relative rate in each local hour of a week, Monday 0 h first; mean 1.
using WeekProfile = std::array<double, 168>;

/// The week of a demand entry: a named profile with its day factors, or its 24 or 168
/// numbers over their mean; flat where none is given. Throws std::invalid_argument if
/// no such profile exists or its numbers are all zero.
WeekProfile week_profile(const spec::DailyProfile& profile,
                         const datasets::Catalog& catalog);

/// What a rate of mean 1 becomes in each UTC hour over the days of the horizon.
struct LoadShape {
  /// Largest hourly mean on any day, growth included.
  std::array<double, kBlocks> peak{};
  /// Sum of the hourly means of all days: requests per unit of rate, in hours.
  std::array<double, kBlocks> sum{};
};

/// Walks every day of the horizon by the clock of `time_zone` (IANA), daylight saving
/// included: each UTC hour is one hour, so none is lost or counted twice when clocks
/// change. Zones off by a quarter of an hour mix the local hours that they touch. The
/// rate of month m is multiplied by (1 + growth)^m. O(days). Throws std::runtime_error
/// that names a zone the system does not know.
LoadShape load_shape(const WeekProfile& week, double growth, const HorizonDays& days,
                     const std::string& time_zone);

}  // namespace isochrone::scenarios
