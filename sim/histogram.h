#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochrone::sim {

/// Counts of non-negative integers in log-linear buckets: values below 128 stand alone,
/// larger ones share a bucket with those that agree in their first seven bits, which is
/// a width below 1/64 of the value. Merging adds integers, so order never matters.
class Histogram {
 public:
  static constexpr int kSubBits = 6;

  void add(std::int64_t value, std::uint64_t times = 1) {
    slot(bucket_of(value)) += times;
  }
  void merge(const Histogram& other);

  std::uint64_t count() const;
  const std::vector<std::uint64_t>& buckets() const { return counts_; }

  static std::size_t bucket_of(std::int64_t value) {
    const auto v = static_cast<std::uint64_t>(value < 0 ? 0 : value);
    if (v < (2U << kSubBits)) return static_cast<std::size_t>(v);
    const int shift = static_cast<int>(std::bit_width(v)) - kSubBits - 1;
    return (static_cast<std::size_t>(shift) << kSubBits) +
           static_cast<std::size_t>(v >> shift);
  }
  /// Middle of the bucket: within 0.8 % of every value in it.
  static std::int64_t value_of(std::size_t bucket);

 private:
  std::uint64_t& slot(std::size_t bucket) {
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    return counts_[bucket];
  }

  std::vector<std::uint64_t> counts_;
};

/// A histogram that stands for `weight` times its counts.
struct WeightedHistogram {
  const Histogram* histogram;
  double weight = 1;
};

/// Value at probability `p`, spread evenly within its bucket; 0 if it is empty.
double smooth_quantile(const Histogram& histogram, double p);

/// Value at probability `p` of the mixture; 0 if it is empty.
std::int64_t quantile(const std::vector<WeightedHistogram>& parts, double p);

}  // namespace isochrone::sim
