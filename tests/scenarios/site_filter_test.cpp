#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "scenarios/candidates.h"
#include "tests/scenarios/candidates_of.h"

namespace isochrone::scenarios {
namespace {

int fell_away(const Candidates& candidates) {
  return std::accumulate(
      candidates.fell_away.begin(), candidates.fell_away.end(), 0,
      [](int sum, const auto& reason) { return sum + reason.second; });
}

TEST_SUITE("scenarios/site_filter") {
  TEST_CASE("every site is a candidate or is counted with its reason") {
    for (const char* classes : {R"("rentable")", R"("rentable", "cloud_region")",
                                R"("colo")", R"("rentable", "cloud_region", "colo")"}) {
      const Candidates all = candidates_of("sites { class: [" + std::string(classes) +
                                           "] " + kBuild + " }");
      CHECK(all.sites.size() + static_cast<std::size_t>(fell_away(all)) ==
            world().sites.size());
    }
  }

  TEST_CASE("colocation without build prices falls away and says why") {
    const Candidates all = candidates_of(R"(sites { class: ["colo"] })");

    CHECK(all.sites.empty());
    CHECK(all.fell_away.at("colocation, and sites.build is not given") > 200);
  }

  TEST_CASE("a region whose price list shows no GPU has none") {
    const Candidates all = candidates_of(R"(sites { class: ["cloud_region"] })");

    CHECK(all.fell_away.at("price list read, and no GPU in it") == 19);
  }

  TEST_CASE("restricted sites are no candidates unless their country is named") {
    const Candidates open =
        candidates_of(R"(sites { class: ["rentable", "colo"] )" + kBuild + " }");
    CHECK_FALSE(site(open, "aws/ap-east-1"));  // Hong Kong, export-controlled
    CHECK_FALSE(site(open, "colo/sha"));       // Shanghai, partner-run
    CHECK_FALSE(site(open, "colo/led"));       // Saint Petersburg, embargoed
    CHECK(open.fell_away.at("embargoed country") == 6);

    const Candidates bloc = candidates_of(
        R"(sites { class: ["rentable", "colo"] countries { allow: ["ASIA"] } )" +
        kBuild + " }");
    CHECK_FALSE(site(bloc, "aws/ap-east-1"));
    const Candidates named = candidates_of(
        R"(sites { class: ["rentable", "colo"] countries { allow: ["HK"] } )" + kBuild +
        " }");
    CHECK(site(named, "aws/ap-east-1"));
    CHECK(noted(named, "export-controlled"));
  }

  TEST_CASE("sites by contract only need a quote") {
    CHECK_FALSE(site(candidates_of(""), "coreweave/us-east-03"));
    CHECK(site(candidates_of(R"(sites { override { site: "coreweave/us-east-03"
        gpu: "H100-80GB-SXM" usd_per_gpu_hour: 3 } })"),
               "coreweave/us-east-03"));
  }

  TEST_CASE("allowed countries are the only ones, and the EEA holds no GB or CH") {
    const Candidates eea = candidates_of(R"(sites { countries { allow: ["EEA"] } })");

    CHECK_FALSE(eea.sites.empty());
    for (const CandidateSite& one : eea.sites) {
      CHECK(world().blocs.find("EEA")->contains(one.endpoint.country));
    }
    CHECK(std::ranges::none_of(eea.sites, [](const CandidateSite& one) {
      return one.endpoint.country == country("GB") ||
             one.endpoint.country == country("CH");
    }));
  }

  TEST_CASE("only, forbid and providers are obeyed") {
    const Candidates virginia = candidates_of(R"(sites { only: ["*/us-east*"] })");
    for (const CandidateSite& one : virginia.sites) {
      CHECK(one.id.find("/us-east") != std::string::npos);
    }
    CHECK(site(virginia, "aws/us-east-1"));
    CHECK_FALSE(
        site(candidates_of(R"(sites { forbid: ["*/us-east-1"] })"), "aws/us-east-1"));
    const Candidates aws = candidates_of(R"(sites { providers { allow: ["aws"] } })");
    for (const CandidateSite& one : aws.sites) CHECK(one.provider == "aws");
    CHECK_FALSE(site(candidates_of(R"(sites { providers { deny: ["aws"] } })"),
                     "aws/us-east-1"));
    const Candidates clouds = candidates_of(R"(sites { tiers: ["neocloud"] })");
    for (const CandidateSite& one : clouds.sites) {
      CHECK(one.tier == datasets::Tier::kNeocloud);
    }
  }

  TEST_CASE("a certification that is not known is not held") {
    const Candidates all = candidates_of(R"(sites { certifications: ["hds"] })");

    for (const CandidateSite& one : all.sites) {
      CAPTURE(one.provider);
      CHECK(world().certifications.at(one.provider).contains("hds"));
    }
    CHECK(all.fell_away.at("certification hds not known to be held") > 0);
    CHECK(candidates_of(R"(sites { certifications: ["iso99999"] })").sites.empty());
  }

  TEST_CASE("a pinned site is marked, and one that falls away is an error") {
    const Candidates all = candidates_of(
        R"(sites { pin { site: "aws/eu-central-1" gpu: "L40S-48GB" min_gpus: 8 } })");
    const CandidateSite* pinned = site(all, "aws/eu-central-1");
    REQUIRE(pinned);
    CHECK(pinned->pinned);
    CHECK(pinned->pinned_min_gpus == 8);
    CHECK(pinned->pinned_gpu == world().gpu("L40S-48GB"));

    CHECK_THROWS_WITH_AS(candidates_of(R"(sites { forbid: "aws/*"
        pin { site: "aws/eu-central-1" } })"),
                         doctest::Contains("in sites.forbid"), InputError);
  }
}

}  // namespace
}  // namespace isochrone::scenarios
