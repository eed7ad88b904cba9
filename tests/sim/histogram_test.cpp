#include "sim/histogram.h"

#include <doctest/doctest.h>

#include "base/rng.h"

namespace isochrone::sim {
namespace {

TEST_SUITE("sim/histogram") {
  TEST_CASE("a bucket stands within 0.8 % of every value in it") {
    for (std::int64_t value = 1; value < 1'000'000'000'000; value += 1 + value / 37) {
      const std::int64_t shown = Histogram::value_of(Histogram::bucket_of(value));

      CHECK(static_cast<double>(shown) ==
            doctest::Approx(static_cast<double>(value)).epsilon(0.008));
    }
  }

  TEST_CASE("buckets follow one another without a gap") {
    std::size_t last = 0;
    for (std::int64_t value = 0; value < 100'000; ++value) {
      const std::size_t bucket = Histogram::bucket_of(value);
      CHECK((bucket == last || bucket == last + 1));
      last = bucket;
    }
  }

  TEST_CASE("merging in either order gives the same counts") {
    Rng rng(3);
    Histogram a, b, ab, ba;
    for (int i = 0; i < 1000; ++i) {
      a.add(static_cast<std::int64_t>(rng.below(1'000'000)));
      b.add(static_cast<std::int64_t>(rng.below(50)));
    }
    ab.merge(a);
    ab.merge(b);
    ba.merge(b);
    ba.merge(a);

    CHECK(ab.buckets() == ba.buckets());
    CHECK(ab.count() == 2000);
  }

  // 90 values of 10 at weight 1 and 10 values of 100 at weight 9: masses 90 and 90.
  TEST_CASE("a quantile of a mixture heeds the weights") {
    Histogram low, high;
    for (int i = 0; i < 90; ++i) low.add(10);
    for (int i = 0; i < 10; ++i) high.add(100);

    CHECK(quantile({{&low, 1}, {&high, 9}}, 0.5) == 10);
    CHECK(quantile({{&low, 1}, {&high, 9}}, 0.51) == 100);
    CHECK(quantile({}, 0.5) == 0);
  }

  // 1,000 = 125 * 8 begins a bucket that ends at 1,008: its middle is 1,004, and three
  // quarters of it lie before 1,006.
  TEST_CASE("a smooth quantile spreads values within their bucket") {
    Histogram histogram;
    histogram.add(1000, 100);

    CHECK(smooth_quantile(histogram, 0.5) == doctest::Approx(1004));
    CHECK(smooth_quantile(histogram, 0.75) == doctest::Approx(1006));
    CHECK(smooth_quantile(Histogram{}, 0.5) == 0);
  }
}

}  // namespace
}  // namespace isochrone::sim
