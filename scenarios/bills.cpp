#include "scenarios/bills.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace isochrone::scenarios {
namespace {

constexpr int kYear = 12;

int years(int months) { return (months + kYear - 1) / kYear; }

std::string dollars(double usd) { return fmt::format("{:.6g} $", usd); }

MicroUsdPerHour less(MicroUsdPerHour price, double share) {
  return MicroUsdPerHour::of(
      std::llround(static_cast<double>(price.count()) * (1 - share)));
}

double hourly_usd(MicroUsdPerHour price) {
  return static_cast<double>(price.count()) / 1e6;
}

struct BuiltMonth {
  double capex = 0;
  double rent = 0;
  double rest = 0;
};

BuiltMonth built_month(const spec::Build& build, const spec::BuildGpu& gpu, int months,
                       double capex, double usd_per_kw) {
  const double each = capex / build.amortise_months();
  const int paid = std::min(months, build.amortise_months());
  const double unamortised = each * (build.amortise_months() - paid);
  return {each * paid / months, gpu.kw() * build.pue() * usd_per_kw,
          unamortised * (1 - build.resale_share()) / months};
}

}  // namespace

PriceRange discounted(MicroUsdPerHour price, const spec::LowMidHigh& discount) {
  return {less(price, discount.high()), less(price, discount.mid()),
          less(price, discount.low())};
}

MicroUsd rental_month(MicroUsdPerHour price, const std::string& term, int months) {
  const std::int64_t month = per_month(price).count();
  if (term != "reserved_1y") return MicroUsd::of(month);
  const std::int64_t paid = std::int64_t{kYear} * years(months);
  return MicroUsd::of((month * paid + months - 1) / months);
}

MicroUsd notice_month(MicroUsdPerHour price, const std::string& term, int months,
                      double notice_months) {
  if (term == "spot" || term == "kept") return {};
  const int rest = term == "reserved_1y" ? kYear * years(months) - months : 0;
  const double due = std::max(0.0, notice_months - rest);
  return usd(to_usd(per_month(price)) * due / months);
}

void fill_rental(Offer& offer, const PriceRange& price, const Scenario& scenario) {
  const int months = scenario.spec.horizon().months();
  offer.price = price.mid;
  offer.bill_gpu_month = rental_month(price.mid, offer.term, months);
  offer.bill_low_gpu_month = rental_month(price.low, offer.term, months);
  offer.bill_high_gpu_month = rental_month(price.high, offer.term, months);
  offer.arithmetic += fmt::format("{}/h x 730 h", dollars(hourly_usd(price.mid)));
  if (offer.term == "reserved_1y") {
    offer.beyond_gpu_month = offer.bill_gpu_month - per_month(price.mid);
  }
  const spec::Exit& exit = scenario.spec.terms().exit();
  offer.notice_gpu_month =
      notice_month(price.mid, offer.term, months, exit.notice_months());
  if (exit.count() == "assumed") offer.extra_gpu_month += offer.notice_gpu_month;
}

Offer built_offer(const spec::BuildGpu& gpu, datasets::GpuId id,
                  const Scenario& scenario) {
  const spec::Build& build = scenario.spec.sites().build();
  const int months = scenario.spec.horizon().months();
  const auto month = [&](double capex, double rent) {
    return built_month(build, gpu, months, capex, rent);
  };
  const auto bill = [&](double capex, double rent) {
    const BuiltMonth parts = month(capex, rent);
    return usd(parts.capex + parts.rent + build.ops_usd_gpu_month());
  };
  const spec::LowMidHigh& capex = gpu.capex_usd();
  const spec::LowMidHigh& rent = build.colo_usd_kw_month();

  Offer offer;
  offer.gpu = id;
  offer.shape_gpus = gpu.shape_gpus();
  offer.term = "built";
  offer.basis = PriceBasis::kBuilt;
  offer.bill_gpu_month = bill(capex.mid(), rent.mid());
  offer.bill_low_gpu_month = bill(capex.low(), rent.low());
  offer.bill_high_gpu_month = bill(capex.high(), rent.high());
  offer.price = MicroUsdPerHour::of(offer.bill_gpu_month.count() / kHoursPerMonth);
  offer.extra_gpu_month = usd(month(capex.mid(), rent.mid()).rest);
  offer.lead_time_days = static_cast<int>(std::ceil(build.lead_time_weeks() * 7));
  offer.source = "sites.build of the scenario";
  offer.arithmetic = fmt::format(
      "{} / {} months x {} / {} + {:g} kW x {:g} x {}/kW + {}", dollars(capex.mid()),
      build.amortise_months(), std::min(months, build.amortise_months()), months,
      gpu.kw(), build.pue(), dollars(rent.mid()), dollars(build.ops_usd_gpu_month()));
  return offer;
}

}  // namespace isochrone::scenarios
