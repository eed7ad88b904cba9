// Changes every field of a sound plan, one at a time, and wants each to be found and
// named. Fields are found by reflection, so that one added to plan.proto is tried at
// once: it is either checked or stands in the list of exemptions with its reason.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "base/hash.h"
#include "place/verify/checks.h"
#include "tests/verify/honest_plan.h"

namespace isochrone::verify {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

/// Fields that no scenario and no catalog can decide, by full name without the package.
const std::map<std::string, std::string>& exempt() {
  static const std::map<std::string, std::string> kExempt{
      {"Plan.reproducible", "says whether a clock ended the search; leaves no trace"},
      {"Plan.assumptions", "words for a reader"},
      {"Plan.warnings", "words for a reader"},
      {"Plan.content_hash", "checked when the file is read, empty in memory"},
      {"Provenance.start", "names the base plan that the search began with"},
      {"BillLine.what", "words for a reader; kind, site, basis and amount are checked"},
      {"BillLine.arithmetic", "words for a reader"},
      {"Unserved.because", "words for a reader"},
      {"Bound.refers_to", "words for a reader"},
      {"Bound.physical_usd_micro", "0: not claimed"},
      {"Table.rests_on", "words for a reader; the hash of the tables covers them"},
      {"Cell.hours", "which hours were the worst is seen in simulation alone"},
      {"Cell.requests", "a count of the simulation"},
      {"Cell.unfinished", "a count of the simulation"},
      {"Cell.attained", "measured; only its place between low and high is checked"},
      {"Cell.low", "measured; decides the verdict, which is checked"},
      {"Cell.high", "measured; decides the verdict, which is checked"},
      {"Cell.at_percentile_ms", "measured; only its side of the limit is checked"},
      {"Cell.Part.name", "words for a reader"},
      {"Cell.Part.ns", "measured"},
      {"Plan.simulated_requests", "a count; only less than the cells show is seen"},
      {"Certificate.Price.usd_micro", "any prices prove a bound; a test of its own"},
      {"Certificate.Row.multiplier",
       "any multiplier proves a bound; a test of its own"},
  };
  return kExempt;
}

std::string short_name(const Field* field) {
  return field->full_name().substr(std::string("isochrone.plan.").size());
}

/// A change that is small and yet no rounding: 2 % and one more, a letter, the
/// opposite.
void change(pb::Message& message, const Field* field, int index) {
  const pb::Reflection* r = message.GetReflection();
  const bool list = index >= 0;
  const auto more = [](auto value) {
    return static_cast<decltype(value)>(value + value / 50 + 1);
  };
  switch (field->cpp_type()) {
    case Field::CPPTYPE_STRING: {
      const std::string text = list ? r->GetRepeatedString(message, field, index)
                                    : r->GetString(message, field);
      list ? r->SetRepeatedString(&message, field, index, text + "x")
           : r->SetString(&message, field, text + "x");
      return;
    }
    case Field::CPPTYPE_DOUBLE:
      list ? r->SetRepeatedDouble(
                 &message, field, index,
                 r->GetRepeatedDouble(message, field, index) * 1.02 + 0.001)
           : r->SetDouble(&message, field, r->GetDouble(message, field) * 1.02 + 0.001);
      return;
    case Field::CPPTYPE_INT32:
      r->SetInt32(&message, field, more(r->GetInt32(message, field)));
      return;
    case Field::CPPTYPE_INT64:
      list ? r->SetRepeatedInt64(&message, field, index,
                                 more(r->GetRepeatedInt64(message, field, index)))
           : r->SetInt64(&message, field, more(r->GetInt64(message, field)));
      return;
    case Field::CPPTYPE_UINT32:
      list ? r->SetRepeatedUInt32(&message, field, index,
                                  more(r->GetRepeatedUInt32(message, field, index)))
           : r->SetUInt32(&message, field, more(r->GetUInt32(message, field)));
      return;
    case Field::CPPTYPE_UINT64:
      r->SetUInt64(&message, field, more(r->GetUInt64(message, field)));
      return;
    case Field::CPPTYPE_BOOL:
      r->SetBool(&message, field, !r->GetBool(message, field));
      return;
    default:
      FAIL("plan.proto has a field type that this test does not change");
  }
}

/// Holds a plan that can be changed in place and the facts that it is checked against.
struct Trial {
  plan::Plan plan = honest_plan();
  scenarios::Scenario scenario = small_question();
  Facts facts{plan, scenario, world()};

  /// Faults of every check; those of the tables are slow and run where they matter.
  std::vector<Fault> faults(bool with_tables) const {
    Faults found;
    check_provenance(facts, found);
    check_populations(facts, found);
    check_sites(facts, found);
    check_pools(facts, found);
    check_assignments(facts, found);
    check_survival(facts, found);
    check_unserved(facts, found);
    check_bill(facts, found);
    check_bound(facts, found);
    check_cells(facts, found);
    check_law(facts, found);
    std::vector<std::string> rests_on;
    if (with_tables) check_tables(facts, found, rests_on);
    return found.take();
  }
};

bool names(const std::vector<Fault>& faults, const std::string& area) {
  // A change of tables shows in their hash; one of prices and rows in the bound.
  const std::string other = area == "tables"        ? "provenance.tables_hash"
                            : area == "certificate" ? "bound"
                            : area == "unserved"    ? "assignments"
                                                    : area;
  return std::ranges::any_of(faults, [&](const Fault& fault) {
    return fault.where.starts_with(area) || fault.where.starts_with(other);
  });
}

/// Calls `visit(path, message, field, index)` for every scalar in the message: of lists
/// of scalars the first and the last.
using Visit = std::function<void(const std::string&, pb::Message&, const Field*, int)>;
void walk(const std::string& path, pb::Message& message, const Visit& visit) {
  const pb::Descriptor* type = message.GetDescriptor();
  const pb::Reflection* r = message.GetReflection();
  for (int f = 0; f < type->field_count(); ++f) {
    const Field* field = type->field(f);
    const std::string here = path.empty() ? field->name() : path + "." + field->name();
    const bool nested = field->cpp_type() == Field::CPPTYPE_MESSAGE;
    if (!field->is_repeated()) {
      if (!nested) visit(here, message, field, -1);
      if (nested && r->HasField(message, field)) {
        walk(here, *r->MutableMessage(&message, field), visit);
      }
      continue;
    }
    const int size = r->FieldSize(message, field);
    for (int i = 0; i < size; ++i) {
      const std::string item = fmt::format("{}[{}]", here, i);
      if (nested) {
        walk(item, *r->MutableRepeatedMessage(&message, field, i), visit);
      } else if (i == 0 || i == size - 1) {
        visit(item, message, field, i);
      }
    }
  }
}

std::string area_of(const std::string& path) {
  return path.substr(0, path.find_first_of("[."));
}

TEST_SUITE("place/mutation") {
  TEST_CASE("the plan that is changed has no fault to begin with") {
    const Trial trial;

    for (const Fault& fault : trial.faults(true)) {
      FAIL_CHECK(fault.where << ": " << fault.message);
    }
  }

  TEST_CASE("every changed field is found and named") {
    Trial trial;
    int changed = 0;
    walk("", trial.plan,
         [&](const std::string& path, pb::Message& message, const Field* field,
             int index) {
           if (exempt().contains(short_name(field))) return;
           const std::string before = message.SerializeAsString();
           change(message, field, index);
           const auto faults = trial.faults(false);
           INFO(path << " was changed");
           CHECK(names(faults, area_of(path)));
           message.ParseFromString(before);
           ++changed;
         });

    CHECK(changed > 400);
  }

  TEST_CASE("every entry that is dropped or doubled is found") {
    Trial trial;
    const pb::Reflection* r = trial.plan.GetReflection();
    for (const char* list :
         {"sites", "pools", "assignments", "unserved", "bill", "cells", "drills", "law",
          "spend", "populations", "tables"}) {
      const Field* field = trial.plan.GetDescriptor()->FindFieldByName(list);
      CAPTURE(list);
      const plan::Plan before = trial.plan;
      r->RemoveLast(&trial.plan, field);
      CHECK_FALSE(trial.faults(false).empty());
      trial.plan = before;
      const int size = r->FieldSize(trial.plan, field);
      r->AddMessage(&trial.plan, field)
          ->CopyFrom(r->GetRepeatedMessage(trial.plan, field, size - 1));
      CHECK_FALSE(trial.faults(false).empty());
      trial.plan = before;
    }
  }

  TEST_CASE("a changed table is found even where its hash is made anew") {
    Trial trial;
    // What the simulator measured decides reach and capacity, which are recomputed: a
    // change too small to move either by more than its tolerance passes.
    const std::vector<std::string> reached{"reach",    "rtt_us",   "degraded_rtt_us",
                                           "country",  "demand",   "wait_share",
                                           "capacity", "workload", "front_end_ms"};
    walk("", trial.plan,
         [&](const std::string& path, pb::Message& message, const Field* field,
             int index) {
           if (area_of(path) != "tables" ||
               std::ranges::find(reached, field->name()) == reached.end()) {
             return;
           }
           const std::string before = message.SerializeAsString();
           for (int times = 0; times < 6; ++times) change(message, field, index);
           trial.plan.mutable_provenance()->set_tables_hash(
               sha256(trial.plan.tables(0).SerializeAsString()));
           INFO(path << " was changed");
           CHECK_FALSE(trial.faults(true).empty());
           message.ParseFromString(before);
         });
  }

  TEST_CASE("prices that prove less than is claimed are found") {
    Trial trial;
    for (auto& price : *trial.plan.mutable_certificate()->mutable_prices()) {
      for (int b = 0; b < price.usd_micro_size(); ++b) {
        price.set_usd_micro(b, price.usd_micro(b) / 2);
      }
    }

    CHECK(names(trial.faults(false), "bound"));
  }
}

}  // namespace
}  // namespace isochrone::verify
