#pragma once

#include "place/plan.pb.h"
#include "scenarios/scenario.h"
#include "tests/place/world.h"

namespace isochrone::verify {

/// Chat for users in Germany and France at a fixed pace, and training, on quoted GPUs
/// in Frankfurt, Paris and Dublin; a site may be lost; 3 % may be left out.
scenarios::Scenario small_question();

/// Where the honest plan has its pools.
inline constexpr const char* kOpen[] = {"acme/frankfurt", "best/paris"};

struct Facts;

/// Adds what the plan would have seen in simulation and where its data may be.
void add_outcome(const Facts& facts, plan::Plan& plan);

/// Adds what the bill, those left out and the notes say in words, and coverage.
void add_words(const Facts& facts, plan::Plan& plan);

/// A plan of small_question() without a fault and without any wit: one pool that could
/// carry everybody in Frankfurt and one in Paris, everybody in Frankfurt. Made with no
/// search, so that the verifier can be tested before and without a planner.
plan::Plan honest_plan();

}  // namespace isochrone::verify
