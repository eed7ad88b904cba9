#include "sim/request_log.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "base/diagnostics.h"

namespace isochrone::sim {
namespace {

std::string file_with(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::temp_directory_path() / "isochrone_log_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / name).string();
  std::ofstream(path) << text;
  return path;
}

std::string fault_of(const std::string& path) {
  try {
    read_request_log(path);
  } catch (const InputError& fault) {
    return fault.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_SUITE("sim/request_log") {
  TEST_CASE("a log in JSON Lines is read on the engine's clock, by arrival") {
    const auto log = read_request_log(file_with(
        "log.jsonl",
        R"({"input_toks": 20, "output_toks": 2, "arrival_time": 5e9, "queued_ts": 101.5, )"
        R"("scheduled_ts": 102, "first_token_ts": 103, "last_token_ts": 104})"
        "\n"
        R"({"input_toks": 10, "output_toks": 3, "arrival_time": 4e9, "queued_ts": 100, )"
        R"("scheduled_ts": 100, "first_token_ts": 100.25, "last_token_ts": 101})"
        "\n"));

    CHECK(log.measured);
    CHECK(log.engine_clock);
    REQUIRE(log.requests.size() == 2);
    CHECK(log.requests[0].prompt == 10);
    CHECK(log.requests[0].first_ns == 250'000'000);
    CHECK(log.requests[1].arrival_ns == 1'500'000'000);
    CHECK(log.requests[1].scheduled_ns == 2'000'000'000);
    CHECK(log.requests[1].last_ns == 4'000'000'000);
  }

  // 0.5 + 2 * 40 ms after the first token at 1 s + 120 ms.
  TEST_CASE("latencies may be given instead of times") {
    const auto log = read_request_log(
        file_with("log.csv",
                  "arrival_s,input_tokens,output_tokens,ttft_ms,tpot_ms\n"
                  "0,7,1,50,0\n1,9,3,120,40\n"));

    CHECK_FALSE(log.engine_clock);
    CHECK(log.requests[1].first_ns == 1'120'000'000);
    CHECK(log.requests[1].last_ns == 1'200'000'000);
  }

  TEST_CASE("the columns of the public traces are known with their units") {
    const auto azure = read_request_log(file_with(
        "azure.csv",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 23:59:59.5000000,374,44\n2023-11-17 00:00:01.7500000,396,109\n"));
    CHECK_FALSE(azure.measured);
    CHECK(azure.requests[1].arrival_ns == 2'250'000'000);

    const auto mooncake = read_request_log(file_with(
        "mooncake.jsonl",
        "{\"timestamp\": 3000, \"input_length\": 6758, \"output_length\": 500, "
        "\"hash_ids\": [0, 1]}\n"
        "{\"timestamp\": 5500, \"input_length\": 10, \"output_length\": 5}\n"));
    CHECK(mooncake.requests[1].arrival_ns == 2'500'000'000);

    const auto burst = read_request_log(
        file_with("burst.csv",
                  "Timestamp,Model,Request tokens,Response tokens\n5,ChatGPT,472,18\n"
                  "45,ChatGPT,1087,0\n118,GPT-4,417,276\n"));
    REQUIRE(burst.requests.size() == 2);  // one has no answer
    CHECK(burst.requests[1].arrival_ns == 113'000'000'000);

    const auto vidur = read_request_log(file_with(
        "vidur.csv",
        "arrived_at,num_prefill_tokens,num_decode_tokens\n0.25,5,6\n1.5,7,8\n"));
    CHECK(vidur.requests[1].arrival_ns == 1'250'000'000);
    CHECK(vidur.requests[1].answer == 8);
  }

  TEST_CASE("columns that nobody knows may have any name") {
    const auto log = read_request_log(
        file_with("quoted.csv",
                  "\"user, by \"\"name\"\"\",arrival_s,\"input_tokens\",output_tokens\n"
                  "x,2,5,6\n"));
    CHECK(log.requests[0].prompt == 5);
  }

  TEST_CASE("a wrong unit is refused") {
    CHECK(says(fault_of(file_with("a.jsonl",
                                  "{\"timestamp\": 0.5, \"input_length\": 1, "
                                  "\"output_length\": 1}\n")),
               "whole milliseconds"));
    CHECK(says(fault_of(file_with("a.csv",
                                  "arrival_time,input_tokens,output_tokens\n"
                                  "1700000000000,1,1\n")),
               "this is no date"));
    std::string fast = "arrival_ms,input_tokens,output_tokens\n";
    for (int i = 0; i < 20; ++i) fast += "0." + std::to_string(i + 10) + ",1,1\n";
    CHECK(says(fault_of(file_with("b.csv", fast)), "a second"));
  }

  TEST_CASE("what cannot be understood is refused by name") {
    CHECK(says(fault_of("/nowhere/log.jsonl"), "no such file"));
    CHECK(says(fault_of(std::filesystem::temp_directory_path().string()),
               "is a directory"));
    CHECK(says(fault_of(file_with("c.jsonl", "[1]\n")), "no JSON object"));
    CHECK(says(fault_of(file_with("c.csv", "arrival_s,input_tokens\n0,1\n")),
               "no column for the answer"));
    CHECK(says(
        fault_of(file_with("d.csv", "arrival_s,input_tokens,output_tokens\n0,x,1\n")),
        "prompt is no number"));
    CHECK(says(fault_of(file_with("e.csv",
                                  "arrival_s,input_tokens,output_tokens,first_token_ts,"
                                  "last_token_ts\n9,1,1,8,10\n")),
               "before its request came"));
    CHECK(says(fault_of(file_with("f.csv", "arrival_s,input_tokens,output_tokens\n")),
               "holds no request"));
  }

  TEST_CASE("the settings of an engine are read, and the others left unset") {
    const auto settings = read_engine_settings(file_with(
        "meta.json",
        R"({"engine_kwargs": {"max_num_seqs": 128, "max_num_batched_tokens": 2048},)"
        R"( "kv_cache": {"num_gpu_blocks": 2588, "block_size": 16},)"
        R"( "resolved_config": {"scheduler_config": {"async_scheduling": false}}})"));

    CHECK(settings.max_num_seqs == 128);
    CHECK(settings.kv_blocks == 2588);
    CHECK(settings.plans_ahead == false);
    CHECK_FALSE(settings.reserves_prompt.has_value());
  }
}

}  // namespace
}  // namespace isochrone::sim
