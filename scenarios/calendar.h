#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "scenarios/scenario.h"

namespace isochrone::scenarios {

/// A day of the calendar. No clock is ever read: every day comes from a file.
using Day = std::chrono::sys_days;

/// Reads `2027-03-01`. Throws std::invalid_argument unless it is a day that exists.
Day parse_day(std::string_view text);
std::string to_text(Day day);

/// The same day of a later month, or the last of that month where it is shorter.
Day add_months(Day day, int months);

/// The days of service: first to last, both served.
struct HorizonDays {
  Day first;
  Day last;
  int months = 1;
};
HorizonDays horizon_days(const Scenario& scenario);

/// Days from the order to the day by which everything must serve (`limits.ready_by`,
/// else the first day of service). Negative if that day lies before the order.
int days_until_ready(const Scenario& scenario);

}  // namespace isochrone::scenarios
