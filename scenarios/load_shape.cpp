#include "scenarios/load_shape.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <date/tz.h>

namespace isochrone::scenarios {
namespace {

using std::chrono::sys_seconds;

// Every zone in use is off UTC, and changes its clock, by whole quarters of an hour.
constexpr std::int64_t kQuarter = 15 * 60;
constexpr std::size_t kQuartersOfWeek = 168 * 4;

/// The rates of a week as one zone's clock sees them, asked in UTC.
class LocalWeek {
 public:
  LocalWeek(const WeekProfile& week, const std::string& zone)
      : week_(week), zone_(date::locate_zone(zone)) {
    for (std::size_t quarter = 0; quarter < kQuartersOfWeek; ++quarter) {
      for (std::size_t next = quarter; next < quarter + 4; ++next) {
        hour_from_[quarter] += week_[next % kQuartersOfWeek / 4] / 4;
      }
    }
  }

  /// Mean rate of the hour that begins at `time`.
  double hour(sys_seconds time) {
    if (time < from_ || time >= until_) look_up(time);
    if (time + std::chrono::hours{1} <= until_)
      return hour_from_[quarter_of_week(time)];
    double rate = 0;  // the clock changes within this hour
    for (int part = 0; part < 4; ++part, time += std::chrono::seconds{kQuarter}) {
      if (time >= until_) look_up(time);
      rate += week_[quarter_of_week(time) / 4] / 4;
    }
    return rate;
  }

 private:
  /// Asks the time zone database, whose answer holds until the clock changes again.
  void look_up(sys_seconds time) {
    const date::sys_info info = zone_->get_info(time);
    from_ = info.begin;
    until_ = info.end;
    offset_ = info.offset;
  }

  std::size_t quarter_of_week(sys_seconds time) const {
    // Day 0 of the clock, 1970-01-01, was a Thursday; the week begins on Monday.
    constexpr std::int64_t kThursday = 3 * 24 * 3600;
    constexpr std::int64_t kWeek = 7 * 24 * 3600;
    const std::int64_t local = (time + offset_).time_since_epoch().count() + kThursday;
    return static_cast<std::size_t>((local % kWeek + kWeek) % kWeek / kQuarter);
  }

  const WeekProfile& week_;
  const date::time_zone* zone_;
  std::array<double, kQuartersOfWeek> hour_from_{};  // mean of the hour from a quarter
  sys_seconds from_{};
  sys_seconds until_{};
  std::chrono::seconds offset_{0};
};

WeekProfile over_its_mean(WeekProfile week) {
  const double mean = std::accumulate(week.begin(), week.end(), 0.0) / 168.0;
  if (!(mean > 0)) throw std::invalid_argument("a daily profile must not be all zero");
  for (double& hour : week) hour /= mean;
  return week;
}

WeekProfile named_week(const datasets::DailyProfile& row) {
  WeekProfile week{};
  for (std::size_t hour = 0; hour < week.size(); ++hour) {
    const bool weekend = hour >= 5 * std::size_t{24};
    week[hour] = weekend ? row.weekend_factor * row.weekend[hour % 24]
                         : row.weekday_factor * row.weekday[hour % 24];
  }
  return over_its_mean(week);
}

}  // namespace

WeekProfile week_profile(const spec::DailyProfile& profile,
                         const datasets::Catalog& catalog) {
  WeekProfile week{};
  if (profile.hours_size() > 0) {
    const auto& hours = profile.hours();
    if (hours.size() != 24 && hours.size() != 168) {
      throw std::invalid_argument("a daily profile has 24 or 168 numbers");
    }
    for (std::size_t hour = 0; hour < week.size(); ++hour) {
      week[hour] = hours.Get(static_cast<int>(hour) % hours.size());
    }
    return over_its_mean(week);
  }
  if (profile.name().empty()) {
    week.fill(1.0);
    return week;
  }
  const datasets::DailyProfile* row = catalog.daily_profile(profile.name());
  if (!row) throw std::invalid_argument("no daily profile: " + profile.name());
  return named_week(*row);
}

LoadShape load_shape(const WeekProfile& week, double growth, const HorizonDays& days,
                     const std::string& time_zone) {
  LocalWeek local(week, time_zone);
  LoadShape shape;
  int month = 0;
  Day next_month = add_months(days.first, 1);
  for (Day day = days.first; day <= days.last; day += std::chrono::days{1}) {
    if (day >= next_month && month + 1 < days.months) {
      ++month;
      next_month = add_months(days.first, month + 1);
    }
    const double grown = std::pow(1.0 + growth, month);
    sys_seconds time = day;
    for (std::size_t block = 0; block < kBlocks; ++block) {
      const double rate = grown * local.hour(time);
      shape.peak[block] = std::max(shape.peak[block], rate);
      shape.sum[block] += rate;
      time += std::chrono::hours{1};
    }
  }
  return shape;
}

}  // namespace isochrone::scenarios
