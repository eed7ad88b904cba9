// Changes every field of a plan that the planner wrote, one at a time, and wants the
// verifier to find each and to name its place. Fields are found by reflection, so one
// added to plan.proto is tried at once: it is either checked or stands in the list of
// exemptions with its reason.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "place/verify/checks.h"
#include "tests/verify/planned.h"

namespace isochrone::verify {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

/// Two latency-bound workloads and a batch job on quoted and discounted GPUs with
/// stock, for three countries of which one need not be covered whole; any site may be
/// lost; traffic is paid and a provider is preferred.
constexpr const char* kQuestion = R"(
name: four-workshops
seed: 7
headroom: 1.2
horizon: {order_date: 2026-12-01, start: 2027-11-01, months: 24}
regions: {west: [FR], middle: [DE, PL]}
workloads:
  - name: chat
    kind: llm
    rate: {tokens_per_s: 50, streams_per_gpu: 24, prefill_tokens_per_s: 8000}
    input_tokens: {constant: 400}
    output_tokens: {constant: 100}
    connection: cold_quic
    payload: {up_kb: 4, down_bytes_per_token: 200, down_kb: 10}
    data: [general]
    requires: {memory_gb: 40}
    slo: {ttft_p95_ms: 700, e2e_p90_ms: 3000}
  - name: score
    kind: service
    service_ms: {lognormal: {mean: 4, p99: 12}}
    streams_per_gpu: 8
    payload: {up_kb: 2, down_kb: 1}
    data: [general]
    slo: {e2e_p99_ms: 90}
  - name: train
    kind: batch
    batch: {gpu_hours_month: 2000, jobs_month: 4, reference_gpu: H100-80GB-SXM,
            gang_gpus: 16, deadline_hours: 72, data_from: [DE], data_tb: 1}
    data: [general]
demand:
  - {name: people, workload: chat, users: {DE: 160000, FR: 90000}, metros_max: 4,
     requests_per_user_day: 6, daily_profile: consumer,
     burstiness: {cv: 1.2, correlation_min: 10}}
  - {name: workshops, workload: chat, users: {PL: 120000}, metros_max: 3,
     requests_per_user_day: 9, daily_profile: office, coverage: 0.7,
     unserved_usd_user_month: 0.001}
  - {name: orders, workload: score, at: {city: Paris, country: FR}, rps_peak: 300,
     daily_profile: office, burstiness: {cv: 1.2, correlation_min: 2}, access: none}
sites:
  only: ["acme/*", "best/*"]
  fixed_usd_site_month: 2000
  prices: allow_estimates
  add:
    - {name: acme/frankfurt, city: Frankfurt am Main, country: DE,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 4, term: on_demand,
                 usd_per_gpu_hour: 2.5, available_gpus: 128, lead_time_days: 10}]}
    - {name: best/paris, city: Paris, country: FR,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 4, term: on_demand,
                 usd_per_gpu_hour: 2.4, available_gpus: 128, lead_time_days: 10}]}
    - {name: best/warsaw, city: Warsaw, country: PL,
       offers: [{gpu: H100-80GB-SXM, shape_gpus: 4, term: on_demand,
                 usd_per_gpu_hour: 2.2, available_gpus: 32, lead_time_days: 10}]}
  prefer: [{provider: best, premium_usd_month: 500}]
terms: {allow: [on_demand, reserved_1y],
        discount: {reserved_1y: {low: 0.25, mid: 0.35, high: 0.45}},
        exit: {count: assumed, stored_tb: 2, notice_months: 3, switch_usd_provider: 500}}
residency: {mode: policy, rules: [{from: [DE, FR, PL], data: [general], allow: [EEA]}],
            otherwise: deny}
resilience: {survive: site, degraded: {ttft_p95_ms: 1500, e2e_p99_ms: 6000}}
limits: {max_sites: 3, budget_usd_month: 900000}
simulate: {max_requests: 400000}
optimize: {work: quick}
)";

/// Fields that no scenario and no catalog can decide and no other field repeats, by
/// full name without the package.
const std::map<std::string, std::string>& exempt() {
  static const std::map<std::string, std::string> kExempt{
      {"Plan.reproducible", "whether a clock ended the search leaves no trace"},
      {"Plan.content_hash", "checked when the file is read, empty in memory"},
  };
  return kExempt;
}

const scenarios::Scenario& question() {
  static const scenarios::Scenario kScenario = asked(kQuestion);
  return kScenario;
}

const plan::Plan& planned() {
  static const plan::Plan kPlan = planned_for(question());
  return kPlan;
}

/// "pools[3].gpus" is of pools[3]; "totals.gpus" is of totals; "format" of itself.
std::string part_of(const std::string& path) {
  const std::size_t end = path.find_first_of(".[");
  if (end == std::string::npos || path[end] == '.') return path.substr(0, end);
  return path.substr(0, path.find(']') + 1);
}

/// Where else a change may show: a list that no longer adds up is named as a whole.
std::vector<std::string> places_of(const std::string& path) {
  const std::string part = part_of(path);
  std::vector<std::string> places{part};
  if (part.starts_with("sites[")) places.emplace_back("sites");
  if (part.starts_with("populations[")) places.emplace_back("populations");
  if (part.starts_with("assignments[")) places.emplace_back("assignments.");
  // Which of the summands and their sum is altered, nobody can tell.
  if (path.ends_with("_requests")) places.emplace_back("simulated_requests");
  return places;
}

/// Holds a plan that can be changed in place and the facts that it is checked against.
struct Trial {
  plan::Plan plan = planned();
  Facts facts{plan, question(), world()};

  using Check = void (*)(const Facts&, Faults&);
  /// The quick chapters first: most changes show in them, and the slow ones are spared.
  static constexpr Check kChecks[] = {
      check_provenance,  check_populations, check_sites,    check_pools,
      check_assignments, check_unserved,    check_coverage, check_law,
      check_bill,        check_cells,       check_drills,   check_repairs,
      check_words,       check_step_times,  check_survival, check_bound};

  std::vector<Fault> faults() const {
    Faults found;
    for (const Check check : kChecks) check(facts, found);
    return found.take();
  }

  /// Whether some chapter finds a fault whose place begins with one of `places`.
  bool named(const std::vector<std::string>& places, std::string& others) const {
    for (const Check check : kChecks) {
      Faults found;
      check(facts, found);
      for (const Fault& fault : found.take()) {
        const bool here = std::ranges::any_of(places, [&](const std::string& place) {
          return fault.where.starts_with(place);
        });
        if (here) return true;
        others += fmt::format("  {}: {}\n", fault.where, fault.message);
      }
    }
    return false;
  }
};

std::string short_name(const Field* field) {
  return field->full_name().substr(std::string("isochrone.plan.").size());
}

template <class Value>
Value get(const pb::Message& message, const Field* field, int index);
template <class Value>
void set(pb::Message& message, const Field* field, int index, Value value);

#define ISOCHRONE_ACCESS(TYPE, NAME)                                            \
  template <>                                                                   \
  TYPE get<TYPE>(const pb::Message& m, const Field* f, int i) {                 \
    const pb::Reflection* r = m.GetReflection();                                \
    return i < 0 ? r->Get##NAME(m, f) : r->GetRepeated##NAME(m, f, i);          \
  }                                                                             \
  template <>                                                                   \
  void set<TYPE>(pb::Message & m, const Field* f, int i, TYPE value) {          \
    const pb::Reflection* r = m.GetReflection();                                \
    i < 0 ? r->Set##NAME(&m, f, value) : r->SetRepeated##NAME(&m, f, i, value); \
  }
ISOCHRONE_ACCESS(std::string, String)
ISOCHRONE_ACCESS(double, Double)
ISOCHRONE_ACCESS(std::int32_t, Int32)
ISOCHRONE_ACCESS(std::int64_t, Int64)
ISOCHRONE_ACCESS(std::uint32_t, UInt32)
ISOCHRONE_ACCESS(std::uint64_t, UInt64)
ISOCHRONE_ACCESS(bool, Bool)
#undef ISOCHRONE_ACCESS

/// Changes that are small and yet no rounding: 2 % and one more, 2 % and one less, a
/// letter more, a letter less, the opposite.
constexpr int kChanges = 2;

template <class Number>
void shift(pb::Message& message, const Field* field, int index, int which) {
  const Number value = get<Number>(message, field, index);
  const Number step = static_cast<Number>(value / 50 + 1);
  set<Number>(message, field, index,
              static_cast<Number>(which == 0 ? value + step : value - step));
}

void change(pb::Message& message, const Field* field, int index, int which) {
  switch (field->cpp_type()) {
    case Field::CPPTYPE_STRING: {
      std::string text = get<std::string>(message, field, index);
      if (which == 0 || text.empty()) {
        text += 'x';
      } else {
        text.pop_back();
      }
      return set<std::string>(message, field, index, text);
    }
    case Field::CPPTYPE_DOUBLE: {
      const double value = get<double>(message, field, index);
      const double by = which == 0 ? 1.02 : 0.98;
      return set<double>(message, field, index, value == 0 ? by - 1 : value * by);
    }
    case Field::CPPTYPE_INT32:
      return shift<std::int32_t>(message, field, index, which);
    case Field::CPPTYPE_INT64:
      return shift<std::int64_t>(message, field, index, which);
    case Field::CPPTYPE_UINT32:
      return shift<std::uint32_t>(message, field, index, which);
    case Field::CPPTYPE_UINT64:
      return shift<std::uint64_t>(message, field, index, which);
    case Field::CPPTYPE_BOOL:
      return set<bool>(message, field, index, !get<bool>(message, field, index));
    default:
      FAIL("plan.proto has a field type that this test does not change");
  }
}

using Visit = std::function<void(const std::string&, pb::Message&, const Field*, int)>;
using VisitList = std::function<void(const std::string&, pb::Message&, const Field*)>;

/// Calls `leaf` for every scalar, also of lists, and `list` for every list that has an
/// entry.
void walk(const std::string& path, pb::Message& message, const Visit& leaf,
          const VisitList& list) {
  const pb::Descriptor* type = message.GetDescriptor();
  const pb::Reflection* r = message.GetReflection();
  for (int f = 0; f < type->field_count(); ++f) {
    const Field* field = type->field(f);
    const std::string here = path.empty() ? field->name() : path + "." + field->name();
    const bool nested = field->cpp_type() == Field::CPPTYPE_MESSAGE;
    if (!field->is_repeated()) {
      if (!nested) leaf(here, message, field, -1);
      if (nested && r->HasField(message, field)) {
        walk(here, *r->MutableMessage(&message, field), leaf, list);
      }
      continue;
    }
    const int size = r->FieldSize(message, field);
    for (int i = 0; i < size; ++i) {
      const std::string item = fmt::format("{}[{}]", here, i);
      if (nested) {
        walk(item, *r->MutableRepeatedMessage(&message, field, i), leaf, list);
      } else {
        leaf(item, message, field, i);
      }
    }
    if (size > 0) list(here, message, field);
  }
}

/// Drops the last entry of a list; doubles it; swaps it with the first.
enum class Rearranged { kDropped, kDoubled, kSwapped };

void rearrange(pb::Message& message, const Field* field, Rearranged how) {
  const pb::Reflection* r = message.GetReflection();
  const int last = r->FieldSize(message, field) - 1;
  if (how == Rearranged::kSwapped) return r->SwapElements(&message, field, 0, last);
  if (how == Rearranged::kDropped) return r->RemoveLast(&message, field);
  switch (field->cpp_type()) {
    case Field::CPPTYPE_MESSAGE:
      r->AddMessage(&message, field)
          ->CopyFrom(r->GetRepeatedMessage(message, field, last));
      return;
    case Field::CPPTYPE_STRING:
      return r->AddString(&message, field, r->GetRepeatedString(message, field, last));
    case Field::CPPTYPE_DOUBLE:
      return r->AddDouble(&message, field, r->GetRepeatedDouble(message, field, last));
    case Field::CPPTYPE_INT64:
      return r->AddInt64(&message, field, r->GetRepeatedInt64(message, field, last));
    case Field::CPPTYPE_UINT32:
      return r->AddUInt32(&message, field, r->GetRepeatedUInt32(message, field, last));
    default:
      FAIL("plan.proto has a list type that this test does not double");
  }
}

TEST_SUITE("place/mutation") {
  TEST_CASE("the plan that is changed is rich and has no fault to begin with") {
    const plan::Plan& plan = planned();

    for (const Fault& fault : verify(plan, question(), world()).faults) {
      FAIL_CHECK(fault.where << ": " << fault.message);
    }
    CHECK(plan.sites_size() >= 2);
    CHECK(plan.pools_size() >= 4);
    CHECK(plan.unserved_size() >= 1);
    CHECK(plan.drills_size() >= 2);
    CHECK(plan.certificate().rows_size() >= 1);
    CHECK(plan.spend_size() >= 3);
  }

  TEST_CASE("every changed field is found and its place is named") {
    Trial trial;
    std::map<std::string, int> tried;
    walk(
        "", trial.plan,
        [&](const std::string& path, pb::Message& message, const Field* field,
            int index) {
          if (exempt().contains(short_name(field))) return;
          ++tried[short_name(field)];
          const std::string before = message.SerializeAsString();
          for (int which = 0; which < kChanges; ++which) {
            change(message, field, index, which);
            std::string others;
            INFO(path << " was changed, variant " << which);
            const bool named = trial.named(places_of(path), others);
            INFO(others);
            CHECK(named);
            message.ParseFromString(before);
          }
        },
        [](const std::string&, pb::Message&, const Field*) {});

    CHECK(tried.size() > 150);
  }

  TEST_CASE("every entry of a list that is dropped, doubled or moved is found") {
    Trial trial;
    std::map<std::string, int> tried;
    walk(
        "", trial.plan, [](const std::string&, pb::Message&, const Field*, int) {},
        [&](const std::string& path, pb::Message& message, const Field* field) {
          if (exempt().contains(short_name(field))) return;
          ++tried[short_name(field)];
          const std::string before = message.SerializeAsString();
          for (const Rearranged how :
               {Rearranged::kDropped, Rearranged::kDoubled, Rearranged::kSwapped}) {
            rearrange(message, field, how);
            // Entries that are equal, or one alone, change nothing by trading places.
            if (message.SerializeAsString() == before) continue;
            INFO(path << " was rearranged, " << static_cast<int>(how));
            CHECK_FALSE(trial.faults().empty());
            message.ParseFromString(before);
          }
        });

    CHECK(tried.size() > 20);
  }
}

}  // namespace
}  // namespace isochrone::verify
