#include "scenarios/calendar.h"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

namespace isochrone::scenarios {
namespace {

using std::chrono::year_month_day;

/// Digits only; -1 for anything else.
int digits(std::string_view text) {
  int value = -1;
  const auto end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  return fault == std::errc{} && stop == end ? value : -1;
}

}  // namespace

Day parse_day(std::string_view text) {
  if (text.size() == 10 && text[4] == '-' && text[7] == '-') {
    const int year = digits(text.substr(0, 4));
    const int month = digits(text.substr(5, 2));
    const int day = digits(text.substr(8, 2));
    if (year > 0 && month > 0 && day > 0) {
      const year_month_day date{std::chrono::year{year},
                                std::chrono::month{static_cast<unsigned>(month)},
                                std::chrono::day{static_cast<unsigned>(day)}};
      if (date.ok()) return Day{date};
    }
  }
  throw std::invalid_argument(
      fmt::format("\"{}\" is no day (expected 2027-03-01)", text));
}

std::string to_text(Day day) {
  const year_month_day date{day};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

Day add_months(Day day, int months) {
  const year_month_day later = year_month_day{day} + std::chrono::months{months};
  if (later.ok()) return Day{later};
  return Day{later.year() / later.month() / std::chrono::last};
}

HorizonDays horizon_days(const Scenario& scenario) {
  const spec::Horizon& horizon = scenario.spec.horizon();
  const Day first = parse_day(horizon.start());
  const Day last = add_months(first, horizon.months()) - std::chrono::days{1};
  return {first, last, horizon.months()};
}

int days_until_ready(const Scenario& scenario) {
  const spec::Limits& limits = scenario.spec.limits();
  const std::string& ready =
      limits.has_ready_by() ? limits.ready_by() : scenario.spec.horizon().start();
  return static_cast<int>(
      (parse_day(ready) - parse_day(scenario.spec.horizon().order_date())).count());
}

}  // namespace isochrone::scenarios
