#include "datasets/price_story.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/datasets/world.h"

namespace isochrone::datasets {
namespace {

PriceStory story(const char* site_id, const char* gpu) {
  return price_story(world(), *world().site(site_id), *world().gpu(gpu));
}

TEST_SUITE("datasets/price story") {
  TEST_CASE("the rows that hold are exactly those that plans use") {
    for (std::uint32_t i = 0; i < world().sites.size(); ++i) {
      const auto rows = world().prices_at(SiteId{i});
      for (std::uint32_t g = 0; g < world().gpus.size(); ++g) {
        const PriceStory told = price_story(world(), SiteId{i}, GpuId{g});
        const auto holding = std::ranges::count_if(told.fates, &PriceFate::holds);
        const auto used = std::ranges::count_if(
            rows, [&](const PriceRow* row) { return row->gpu == GpuId{g}; });

        CHECK(holding == used);
        CHECK(told.none_because.empty() == (holding > 0));
        for (const PriceFate& fate : told.fates) CHECK_FALSE(fate.why.empty());
      }
    }
  }

  TEST_CASE("a site without GPUs in its price list says so") {
    const auto none = std::ranges::find(world().sites, "none_seen", &Site::gpu_status);
    REQUIRE(none != world().sites.end());

    CHECK(price_story(world(), *world().site(none->id), GpuId{0}).none_because ==
          "its price list was read and shows no GPU");
  }

  TEST_CASE("a GPU that a site does not show has no price there") {
    CHECK(story("aws/us-west-1", "B200-180GB-SXM").none_because ==
          "this GPU was not seen there");
  }

  TEST_CASE("a marketplace price does not reach a site of another tier") {
    bool told = false;
    for (const PriceFate& fate : story("runpod/eu-cz-1", "RTX4090-24GB").fates) {
      told = told || fate.why.find("of tier marketplace") != std::string::npos;
    }

    CHECK(told);
  }
}

}  // namespace
}  // namespace isochrone::datasets
