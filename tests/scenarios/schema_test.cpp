#include "scenarios/schema.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "catalog_fixture.h"
#include "scenarios/comments.h"
#include "scenarios/field_path.h"
#include "scenarios/json.h"
#include "scenarios/vocabulary.h"

namespace isochrone::scenarios {
namespace {

using google::protobuf::Descriptor;

/// Calls `visit` with every message of the format.
template <class Visit>
void each_message(const Descriptor& message, const Visit& visit) {
  visit(message);
  for (int i = 0; i < message.nested_type_count(); ++i) {
    if (!message.nested_type(i)->options().map_entry()) {
      each_message(*message.nested_type(i), visit);
    }
  }
}

template <class Visit>
void each_message(const Visit& visit) {
  const auto& file = *spec::Scenario::descriptor()->file();
  for (int i = 0; i < file.message_type_count(); ++i) {
    each_message(*file.message_type(i), visit);
  }
}

TEST_SUITE("scenarios/schema") {
  TEST_CASE("every message and field of the format has a comment") {
    each_message([](const Descriptor& message) {
      CAPTURE(message.full_name());
      CHECK_FALSE(comment_of(message).empty());
      for (int i = 0; i < message.field_count(); ++i) {
        CAPTURE(message.field(i)->name());
        CHECK_FALSE(comment_of(*message.field(i)).empty());
      }
    });
  }

  TEST_CASE("every form that a message may be written in is used by some message") {
    std::set<Form> used;
    each_message([&](const Descriptor& message) { used.insert(form_of(message)); });

    CHECK(used == std::set<Form>{Form::kFields, Form::kObjectives, Form::kOneOf,
                                 Form::kUsers, Form::kProfile, Form::kAccess,
                                 Form::kWords});
  }

  TEST_CASE("every kind of word refuses a word that is none of it") {
    const Vocabulary vocabulary(catalog(), ".");
    int kinds = 0;
    each_message([&](const Descriptor& message) {
      for (int i = 0; i < message.field_count(); ++i) {
        const std::string& kind = format_of(*message.field(i)).kind();
        // A free word; and a model of the scenario's own, checked when all is read.
        if (kind.empty() || kind == "own_model") continue;
        CAPTURE(message.field(i)->full_name());
        CHECK(vocabulary.fault(kind, "[no such] / word").has_value());
        ++kinds;
      }
    });

    CHECK(kinds > 10);
  }

  TEST_CASE("an objective key is its metric and percentile") {
    CHECK(objective_key("ttft", 99.9) == "ttft_p99.9_ms");
    CHECK(objective_key("e2e", 95) == "e2e_p95_ms");
    const auto key = parse_objective_key("tpot_p99.5_ms");
    REQUIRE(key.has_value());
    CHECK(key->metric == "tpot");
    CHECK(key->percentile == 99.5);
    for (const char* wrong :
         {"ttft", "ttft_p_ms", "ttft_pms", "ttft_p95", "p95_ms", "ttft_p-5_ms",
          "ttft_p9e1_ms", "ttft_p9.9.9_ms", "ttft_pinf_ms", "rtt_max_ms", ""}) {
      CAPTURE(wrong);
      CHECK_FALSE(parse_objective_key(wrong).has_value());
    }
  }

  TEST_CASE("a number is read whole or not at all") {
    CHECK(parse_number("1.5e3") == 1500.0);
    CHECK(parse_number("-2") == -2.0);
    for (const char* wrong : {"", " 1", "1 ", "1x", "+1", "0x10", "1,5", "--1"}) {
      CAPTURE(wrong);
      CHECK_FALSE(parse_number(wrong).has_value());
    }
  }
}

TEST_SUITE("scenarios/vocabulary") {
  TEST_CASE("a date is a day of the calendar") {
    CHECK(is_date("2028-02-29"));
    for (const char* wrong :
         {"2027-02-29", "2027-13-01", "2027-00-10", "2027-1-1", "1999-12-31",
          "2200-01-01", "2027/01/01", "20270101", "2027-01-01 ", "2027-01-aa", ""}) {
      CAPTURE(wrong);
      CHECK_FALSE(is_date(wrong));
    }
  }

  TEST_CASE("a glob holds over the whole text") {
    CHECK(glob_matches("*/us-east*", "aws/us-east-1"));
    CHECK(glob_matches("*", ""));
    CHECK(glob_matches("a?c", "abc"));
    CHECK(glob_matches("*a*b*", "xxaxxbxx"));
    CHECK(glob_matches("aws/*-1", "aws/us-1-1"));
    CHECK_FALSE(glob_matches("us-east*", "aws/us-east-1"));
    CHECK_FALSE(glob_matches("aws/us", "aws/us-east-1"));
    CHECK_FALSE(glob_matches("a?c", "ac"));
    CHECK_FALSE(glob_matches("", "a"));
  }
}

TEST_SUITE("scenarios/json") {
  TEST_CASE("text is escaped as JSON asks") {
    CHECK(json_text("a\"b\\c\nd\x01"
                    "é") == "\"a\\\"b\\\\c\\nd\\u0001é\"");
  }

  TEST_CASE("indented text keeps flat arrays and empty values in one line") {
    CHECK(json_indented(R"({"a": [1, "x,]"], "b": {}, "c": {"d": [{"e": 1}]}})") ==
          "{\n"
          "  \"a\": [1, \"x,]\"],\n"
          "  \"b\": {},\n"
          "  \"c\": {\n"
          "    \"d\": [\n"
          "      {\n"
          "        \"e\": 1\n"
          "      }\n"
          "    ]\n"
          "  }\n"
          "}");
  }
}

TEST_SUITE("scenarios/manual") {
  TEST_CASE("a field is found by its path, with list places and names left out") {
    const std::string entry =
        "sites.build.pue\n"
        "  number, 1 to 3; required\n"
        "  Power drawn per power used.\n";
    CHECK(manual("sites.build.pue") == entry);
    CHECK(manual("pue") == entry);
    CHECK(manual("demand[0].coverage") ==
          manual("demand[consumers].coverage").replace(7, 9, "0"));
  }

  TEST_CASE("objectives, maps and whole messages have entries") {
    CHECK(manual("workloads.slo.ttft_p95_ms").find("ttft: to the first token") !=
          std::string::npos);
    CHECK(manual("terms.discount.reserved_1y").find("low: number") !=
          std::string::npos);
    CHECK(manual("regions").find("mapping from name to list") != std::string::npos);
    CHECK(manual("Residency.Rule").find("allow: list, not empty") != std::string::npos);
    CHECK(manual("").find("workloads: list, not empty") != std::string::npos);
  }

  TEST_CASE("what is not in the format has no entry") {
    for (const char* topic :
         {"colour", "sites.colour", "name.first", "sites..build", "regions.europe.x"}) {
      CAPTURE(topic);
      CHECK(manual(topic).empty());
    }
  }
}

TEST_SUITE("scenarios/json_schema") {
  TEST_CASE("a path that leads nowhere finds the field that was meant") {
    CHECK(nearest_field("limits.max_site") == "limits.max_sites");
    CHECK(nearest_field("max_sites") == "limits.max_sites");
    CHECK(nearest_field("demand[my.users].user") == "demand[my.users].users");
    CHECK(nearest_field("workloads.slo.ttft_p95") == "workloads[0].slo.ttft_p95_ms");
    CHECK_FALSE(nearest_field("").has_value());
    CHECK_FALSE(nearest_field("quite.something.else.altogether").has_value());
  }

  TEST_CASE("the schema has the rules of the format") {
    const std::string schema = json_schema();
    // One of each: a range, a required field, a choice, the forms, a comment.
    for (const char* part :
         {R"("exclusiveMinimum": 0)",
          R"("required": ["order_date", "start", "months"])",
          R"("enum": ["llm", "service", "batch"])", R"("maxProperties": 1)",
          R"("minItems": 168)", R"("additionalProperties": false)",
          R"("description": "Power drawn per power used.")",
          R"("$ref": "#/$defs/Residency.Law")", R"("requires": {)"}) {
      CAPTURE(part);
      CHECK(schema.find(part) != std::string::npos);
    }
    CHECK(schema.find("requirements") == std::string::npos);
  }
}

}  // namespace
}  // namespace isochrone::scenarios
