#include <doctest/doctest.h>

#include "scenarios/candidates.h"
#include "tests/scenarios/candidates_of.h"

namespace isochrone::scenarios {
namespace {

TEST_SUITE("scenarios/quotes") {
  TEST_CASE("a quote replaces the price of every shape of its GPU and term") {
    const Candidates all = candidates_of(kBothTerms + R"(sites { override {
        site: "aws/us-east-1" gpu: "H100-80GB-SXM" usd_per_gpu_hour: 5
        available_gpus: 512 lead_time_days: 30 fabric: "infiniband" } })");

    for (const int shape : {1, 8}) {
      const Offer* quoted =
          offer(all, "aws/us-east-1", "H100-80GB-SXM", shape, "on_demand");
      REQUIRE(quoted);
      CHECK(quoted->basis == PriceBasis::kQuote);
      CHECK(quoted->price == usd_per_hour(5));
      CHECK(quoted->stock_gpus == 512);
      CHECK(quoted->lead_time_days == 30);
      CHECK(quoted->infiniband);
    }
    const Offer* reserved =
        offer(all, "aws/us-east-1", "H100-80GB-SXM", 8, "reserved_1y");
    CHECK(reserved->price == usd_per_hour(3.25));  // 5 x 0.65
    CHECK(reserved->stock_gpus == 512);
    CHECK(reserved->lead_time_days == 56);
  }

  TEST_CASE("a quote makes a shape of 8 where the site had no price") {
    const Candidates all = candidates_of(R"(sites { override {
        site: "aws/us-west-1" gpu: "B200-180GB-SXM" usd_per_gpu_hour: 9 } })");

    CHECK(offer(all, "aws/us-west-1", "B200-180GB-SXM", 8, "on_demand"));
  }

  TEST_CASE("a quote of nothing but stock changes nothing where there is no price") {
    const Candidates all = candidates_of(R"(sites { override {
        site: "aws/us-west-1" gpu: "L4-24GB" available_gpus: 9 } })");

    CHECK_FALSE(offer(all, "aws/us-west-1", "L4-24GB", 1, "on_demand"));
    CHECK(noted(all, "no price for L4-24GB"));
  }

  TEST_CASE("an added site stands in the location that holds it") {
    const Candidates all = candidates_of(R"(sites { add { name: "acme/johannesburg"
        city: "Johannesburg" country: "ZA"
        offers { gpu: "L40S-48GB" shape_gpus: 8 term: "on_demand" usd_per_gpu_hour: 1.9
                 available_gpus: 64 lead_time_days: 30 } } })");

    const CandidateSite* acme = site(all, "acme/johannesburg");
    REQUIRE(acme);
    CHECK(acme->provider == "acme");
    CHECK(acme->location == "za-johannesburg");
    REQUIRE(acme->offers.size() == 1);
    CHECK(acme->offers[0].price == usd_per_hour(1.9));
    CHECK(acme->offers[0].basis == PriceBasis::kQuote);
    CHECK(acme->offers[0].stock_gpus == 64);
    CHECK_FALSE(acme->egress.tiers.empty());
  }

  TEST_CASE("an added site in an unknown city is an error") {
    CHECK_THROWS_AS(candidates_of(R"(sites { add { name: "acme/x" city: "Johanesburg"
        country: "ZA" offers { gpu: "L4-24GB" shape_gpus: 1 term: "on_demand"
        usd_per_gpu_hour: 1 } } })"),
                    InputError);
  }

  TEST_CASE("a sunk estate costs nothing more and has its own stock") {
    const std::string keep = R"(sites { keep { name: "estate" site: "aws/eu-central-1"
        gpu: "A100-80GB-SXM" gpus: 64 sunk: true until: )";

    const Candidates all = candidates_of(keep + R"("2027-12-31" } })");
    const Offer* kept = offer(all, "aws/eu-central-1", "A100-80GB-SXM", 8, "kept");
    REQUIRE(kept);
    CHECK(kept->bill_gpu_month == usd(0));
    CHECK(kept->stock_gpus == 64);
    const Candidates early = candidates_of(keep + R"("2027-12-30" } })");
    CHECK_FALSE(offer(early, "aws/eu-central-1", "A100-80GB-SXM", 8, "kept"));
    CHECK(noted(early, "before the horizon does"));
  }

  TEST_CASE("an estate that is not sunk is billed at the site's price, never at none") {
    const std::string keep =
        R"(sites { keep { name: "estate" until: "2030-01-01" gpus: 8
        site: "aws/eu-central-1" gpu: )";

    const Offer* kept = nullptr;
    const Candidates priced = candidates_of(keep + R"("A100-80GB-SXM" } })");
    kept = offer(priced, "aws/eu-central-1", "A100-80GB-SXM", 8, "kept");
    REQUIRE(kept);
    CHECK(kept->price == usd_per_hour(4.2864));
    const Candidates unpriced = candidates_of(keep + R"("MI300X-192GB" } })");
    CHECK_FALSE(offer(unpriced, "aws/eu-central-1", "MI300X-192GB", 8, "kept"));
    CHECK(noted(unpriced, "not sunk, and the site has no price"));
  }

  TEST_CASE("stock is unlimited unless a number is given, and both are printed") {
    const Candidates open = candidates_of("");
    CHECK_FALSE(offer(open, "aws/us-east-1", "L4-24GB", 1, "on_demand")->stock_gpus);
    CHECK(noted(open, "unlimited"));
    const Candidates few = candidates_of("sites { default_available_gpus: 4 }");
    CHECK(offer(few, "aws/us-east-1", "L4-24GB", 1, "on_demand")->stock_gpus == 4);
    CHECK_FALSE(offer(few, "aws/us-east-1", "L4-24GB", 8, "on_demand"));
  }

  TEST_CASE("assumed exit cost is a premium of the provider, reported cost is not") {
    const auto premium = [](const std::string& count) {
      return candidates_of(R"(sites { only: "aws/us-east-1" prefer { provider: "aws"
          premium_usd_month: 100 } } terms { exit { switch_usd_provider: 12000
          count: ")" + count +
                           R"(" } })")
          .premium;
    };

    CHECK(premium("reported").at("aws") == usd(100));
    CHECK(premium("assumed").at("aws") == usd(100 + 12000 / 12.0));
  }

  TEST_CASE("spot is no offer where no pool may stand on it whole") {
    const auto spot = [](const std::string& limit) {
      const Candidates all = candidates_of(
          R"(sites { only: "gcp/europe-west3" } terms { allow: ["on_demand", "spot"] )" +
          limit + "}");
      return offer(all, "gcp/europe-west3", "H100-80GB-SXM", 1, "spot") != nullptr;
    };

    CHECK(spot(""));
    CHECK(spot("spot { max_share: 1 }"));
    CHECK_FALSE(spot("spot { max_share: 0.3 }"));
  }

  TEST_CASE("requirements are met by memory, FP64, domain, graphics and fabric") {
    const auto gpu = [](const char* id) {
      return world().gpus[world().gpu(id).value()];
    };
    const auto needs = [&](const std::string& text, const char* id, int shape) {
      spec::Requires requirements;
      REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &requirements));
      Offer offer;
      offer.shape_gpus = shape;
      return meets(requirements, gpu(id), offer);
    };

    CHECK(needs("", "L4-24GB", 1));
    CHECK(needs("memory_gb: 80", "H100-80GB-SXM", 1));
    CHECK_FALSE(needs("memory_gb: 80", "L40S-48GB", 8));  // per GPU
    CHECK(needs("fp64: true", "A100-80GB-SXM", 8));
    CHECK_FALSE(needs("fp64: true", "B300-288GB-SXM", 8));  // 1.25 TFLOPS
    CHECK(needs("nvlink_gpus: 8", "H100-80GB-SXM", 8));
    CHECK(needs("nvlink_gpus: 8", "MI300X-192GB", 8));
    CHECK_FALSE(needs("nvlink_gpus: 4", "L40S-48GB", 8));
    CHECK_FALSE(needs("nvlink_gpus: 4", "H100-94GB-NVL", 8));  // bridged pairs
    CHECK_FALSE(needs("nvlink_gpus: 2", "H100-80GB-SXM", 1));  // rented one by one
    CHECK(needs("nvlink_gpus: 1", "L4-24GB", 1));
    CHECK(needs("graphics: true", "L40S-48GB", 1));
    CHECK_FALSE(needs("graphics: true", "H100-80GB-SXM", 1));
    CHECK(needs("fabric: \"any\"", "H100-80GB-SXM", 8));
    CHECK_FALSE(needs("fabric: \"any\"", "H100-80GB-SXM", 1));
    CHECK_FALSE(needs("fabric: \"any\"", "L40S-48GB", 8));
    CHECK_FALSE(needs("fabric: \"infiniband\"", "H100-80GB-SXM", 8));
  }

  TEST_CASE("InfiniBand is there only where it is stated") {
    spec::Requires requirements;
    requirements.set_fabric("infiniband");
    Offer offer;
    offer.shape_gpus = 8;
    offer.infiniband = true;

    CHECK(
        meets(requirements, world().gpus[world().gpu("H100-80GB-SXM").value()], offer));
  }
}

}  // namespace
}  // namespace isochrone::scenarios
