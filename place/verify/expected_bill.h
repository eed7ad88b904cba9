#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "place/verify/facts.h"

namespace isochrone::verify {

/// A line of the bill as it should read.
struct Line {
  std::string kind;
  std::string site;
  std::string what;
  std::int64_t usd_micro = 0;
  bool in_bill = true;
  std::string arithmetic;
  std::string basis;
  std::string source;
  std::string as_of;
  bool reported = false;
};

/// The bill as it should read: GPUs of each pool, then open sites, egress, premiums,
/// leaving and those left out, each in the plan's own order.
class ExpectedBill {
 public:
  explicit ExpectedBill(const Facts& facts);

  const std::vector<Line>& lines() const { return lines_; }
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }
  /// What the bound counts for the plan's egress.
  std::int64_t egress_bound() const { return egress_bound_; }
  /// Of the bill, by what the price rests on.
  const std::map<std::string, std::int64_t>& spend() const { return spend_; }
  /// Rent and fixed cost, and GPUs, by share group.
  const std::map<std::string, std::int64_t>& cost() const { return cost_; }
  const std::map<std::string, std::int64_t>& gpus() const { return gpus_; }

 private:
  void add_gpus();
  void add_notice(const plan::Pool& pool, const scenarios::CandidateSite& site,
                  const scenarios::Offer& offer);
  bool add_hourly_batch(const plan::Pool& pool, const scenarios::CandidateSite& site,
                        const scenarios::Offer& offer);
  struct Rent {
    std::int64_t bill = 0;
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::int64_t extra = 0;
    std::string arithmetic;
  };
  void add_rent(const plan::Pool& pool, const scenarios::CandidateSite& site,
                const scenarios::Offer& offer, const Rent& rent);
  void add_certain(Line line, const std::string& rests_on);
  void add_fixed();
  void add_egress();
  void add_premiums();
  double stored_usd(const std::string& provider, double gb) const;
  void add_leaving();
  void add_unserved();
  std::int64_t months() const;
  bool exit_assumed() const;

  const Facts& facts_;
  std::vector<Line> lines_;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  std::int64_t egress_bound_ = 0;
  std::map<std::string, std::int64_t> spend_;
  std::map<std::string, std::int64_t> cost_;
  std::map<std::string, std::int64_t> gpus_;
};

}  // namespace isochrone::verify
