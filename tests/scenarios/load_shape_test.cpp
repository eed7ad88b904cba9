#include "scenarios/load_shape.h"

#include <numeric>
#include <stdexcept>

#include <doctest/doctest.h>

#include "tests/scenarios/small_scenario.h"

namespace isochrone::scenarios {
namespace {

HorizonDays only(const char* day) { return {parse_day(day), parse_day(day), 1}; }

double total(const std::array<double, kBlocks>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), 0.0);
}

/// All the requests of a day in one local hour: weight 24 there, 0 elsewhere.
WeekProfile all_at(std::size_t local_hour) {
  WeekProfile week{};
  for (std::size_t hour = 0; hour < week.size(); ++hour) {
    week[hour] = hour % 24 == local_hour ? 24 : 0;
  }
  return week;
}

WeekProfile named(const char* name) {
  spec::DailyProfile profile;
  profile.set_name(name);
  return week_profile(profile, world());
}

TEST_SUITE("scenarios/load_shape") {
  TEST_CASE("noon in Berlin is 11 UTC in winter and 10 UTC in summer") {
    const HorizonDays year{parse_day("2027-01-01"), parse_day("2027-12-31"), 12};

    const LoadShape shape = load_shape(all_at(12), 0, year, "Europe/Berlin");

    // Summer time 2027 holds at noon from 28 March to 30 October: 4 + 30 + 31 + 30 + 31
    // + 31 + 30 + 30 = 217 days; 365 - 217 = 148 remain.
    CHECK(shape.sum[10] == doctest::Approx(24 * 217));
    CHECK(shape.sum[11] == doctest::Approx(24 * 148));
    CHECK(total(shape.sum) == doctest::Approx(24 * 365));
    CHECK(shape.peak[10] == doctest::Approx(24));
    CHECK(shape.peak[11] == doctest::Approx(24));
    CHECK(shape.peak[12] == 0);
  }

  TEST_CASE("a day on which clocks change has 24 UTC hours") {
    WeekProfile flat;
    flat.fill(1);

    for (const char* day : {"2027-03-28", "2027-10-31", "2027-06-01"}) {
      CAPTURE(day);
      CHECK(total(load_shape(flat, 0, only(day), "Europe/Berlin").sum) == 24);
    }
  }

  TEST_CASE("the local hour that summer time skips is served by nobody") {
    // 28 March 2027: the clock goes from 1:59 to 3:00 at 1 UTC.
    CHECK(total(load_shape(all_at(2), 0, only("2027-03-28"), "Europe/Berlin").sum) ==
          0);
    CHECK(load_shape(all_at(3), 0, only("2027-03-28"), "Europe/Berlin").sum[1] == 24);
  }

  TEST_CASE("the local hour that winter time repeats fills two UTC hours") {
    // 31 October 2027: 2:00-2:59 comes at 0 UTC and again at 1 UTC.
    const LoadShape shape =
        load_shape(all_at(2), 0, only("2027-10-31"), "Europe/Berlin");

    CHECK(shape.sum[0] == 24);
    CHECK(shape.sum[1] == 24);
    CHECK(total(shape.sum) == 48);
  }

  TEST_CASE("the southern hemisphere has its summer time in January") {
    // Sydney is UTC+11 in January, UTC+10 in July.
    CHECK(load_shape(all_at(12), 0, only("2027-01-15"), "Australia/Sydney").sum[1] ==
          24);
    CHECK(load_shape(all_at(12), 0, only("2027-07-15"), "Australia/Sydney").sum[2] ==
          24);
  }

  TEST_CASE("a zone off by half an hour mixes two local hours") {
    // 12:00-13:00 in India (UTC+5:30) is 6:30-7:30 UTC.
    const LoadShape shape =
        load_shape(all_at(12), 0, only("2027-06-01"), "Asia/Kolkata");

    CHECK(shape.sum[6] == 12);
    CHECK(shape.sum[7] == 12);
  }

  TEST_CASE("a zone off by three quarters of an hour mixes a quarter with the rest") {
    // 12:00-13:00 in Nepal (UTC+5:45) is 6:15-7:15 UTC.
    const LoadShape shape =
        load_shape(all_at(12), 0, only("2027-06-01"), "Asia/Kathmandu");

    CHECK(shape.sum[6] == 18);
    CHECK(shape.sum[7] == 6);
  }

  TEST_CASE("a clock that changes within a UTC hour splits it") {
    // Lord Howe goes from +11 to +10:30 on 3 April 2027 at 15 UTC, and back on 2
    // October at 15:30 UTC, from 2:00 to 2:30: of 15 UTC the first half is 1:30-2:00,
    // the second 2:30-3:00.
    const std::string zone = "Australia/Lord_Howe";

    CHECK(load_shape(all_at(1), 0, only("2027-10-02"), zone).sum[15] == 12);
    CHECK(load_shape(all_at(2), 0, only("2027-10-02"), zone).sum[15] == 12);
    CHECK(load_shape(all_at(1), 0, only("2027-04-03"), zone).sum[15] == 12);
  }

  TEST_CASE("a local day that begins before UTC midnight belongs to its own weekday") {
    // Monday 0 h in Auckland (UTC+13 in January) is Sunday 11 h UTC.
    WeekProfile week{};
    week[0] = 168;

    const LoadShape sunday =
        load_shape(week, 0, only("2027-01-03"), "Pacific/Auckland");

    CHECK(sunday.sum[11] == 168);
    CHECK(total(sunday.sum) == 168);
  }

  TEST_CASE("an office weekend has its day factor's share of a weekday") {
    // Ghana keeps UTC. 2 January 2027 is a Saturday, the 4th a Monday; the factors of
    // the table are 0.25 and 1.3, and each row has mean 1 (to its 4 decimals).
    const double saturday =
        total(load_shape(named("office"), 0, only("2027-01-02"), "Africa/Accra").sum);
    const double monday =
        total(load_shape(named("office"), 0, only("2027-01-04"), "Africa/Accra").sum);

    CHECK(saturday / monday == doctest::Approx(0.25 / 1.3).epsilon(1e-3));
  }

  TEST_CASE("every named week has mean 1") {
    for (const datasets::DailyProfile& row : world().daily_profiles) {
      CAPTURE(row.name);
      const WeekProfile week = named(row.name.c_str());
      CHECK(std::accumulate(week.begin(), week.end(), 0.0) == doctest::Approx(168));
    }
  }

  TEST_CASE("numbers of one's own are taken over their mean") {
    spec::DailyProfile day;
    for (int hour = 0; hour < 24; ++hour) day.add_hours(hour < 12 ? 10 : 30);

    const WeekProfile week = week_profile(day, world());

    CHECK(week[0] == doctest::Approx(0.5));
    CHECK(week[23] == doctest::Approx(1.5));
    CHECK(week[24 + 5] == doctest::Approx(0.5));
  }

  TEST_CASE("of 168 numbers the first is Monday 0 h") {
    spec::DailyProfile days;
    for (int hour = 0; hour < 168; ++hour) days.add_hours(hour == 0 ? 1 : 0);

    const WeekProfile week = week_profile(days, world());
    const LoadShape monday = load_shape(week, 0, only("2027-01-04"), "Africa/Accra");

    CHECK(monday.sum[0] == doctest::Approx(168));
  }

  TEST_CASE("a profile of zeros is refused") {
    spec::DailyProfile zeros;
    for (int hour = 0; hour < 24; ++hour) zeros.add_hours(0);

    CHECK_THROWS_WITH_AS(week_profile(zeros, world()),
                         "a daily profile must not be all zero", std::invalid_argument);
  }

  TEST_CASE("growth multiplies from month to month") {
    WeekProfile flat;
    flat.fill(1);
    const HorizonDays quarter{parse_day("2027-01-01"), parse_day("2027-03-31"), 3};

    const LoadShape shape = load_shape(flat, 0.1, quarter, "Africa/Accra");

    // 31 days at 1, 28 at 1.1, 31 at 1.21.
    CHECK(shape.peak[0] == doctest::Approx(1.21));
    CHECK(shape.sum[0] == doctest::Approx(31 + 28 * 1.1 + 31 * 1.21));
  }

  TEST_CASE("a zone that does not exist is named") {
    CHECK_THROWS_AS(load_shape(named("flat"), 0, only("2027-01-01"), "Mars/Olympus"),
                    std::runtime_error);
  }

  TEST_CASE("months end on the last day that they have") {
    CHECK(to_text(add_months(parse_day("2027-01-31"), 1)) == "2027-02-28");
    CHECK(to_text(add_months(parse_day("2028-01-31"), 1)) == "2028-02-29");
    CHECK(to_text(add_months(parse_day("2026-12-01"), 13)) == "2028-01-01");
  }

  TEST_CASE("a date that does not exist is refused") {
    CHECK_THROWS_AS(parse_day("2027-02-29"), std::invalid_argument);
    CHECK_THROWS_AS(parse_day("2027-2-1"), std::invalid_argument);
    CHECK_THROWS_AS(parse_day("01.02.2027"), std::invalid_argument);
  }
}

}  // namespace
}  // namespace isochrone::scenarios
