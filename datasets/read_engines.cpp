#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "datasets/catalog_reader.h"

namespace isochrone::datasets {
namespace {

// Four digits behind the point of 24 hourly weights.
constexpr double kMeanTolerance = 1e-3;

}  // namespace

void CatalogReader::read_models() {
  static constexpr std::string_view kFamilies[] = {"dense", "moe", "moe-mla"};
  Keys keys;
  each_row("models", [&](const Row& row) {
    Model model;
    model.id = row.required("model");
    keys.claim(row, "model", model.id);
    model.family = row.word("family", kFamilies);
    model.layers = static_cast<int>(row.integer("layers", 1, 1000));
    model.hidden = static_cast<int>(row.integer("hidden", 64, 1'000'000));
    model.params_total_b = row.number("params_total_b", 0.01, 100000);
    model.params_active_b = row.number("params_active_b", 0.01, model.params_total_b);
    model.kv_bytes_per_token_bf16 =
        row.integer("kv_bytes_per_token_bf16", 1, 1'000'000'000);
    model.max_context = static_cast<int>(row.integer("max_context", 512, 100'000'000));
    // Keys and values, two bytes each. A latent cache (MLA) does not follow from heads.
    const std::int64_t from_shape = std::int64_t{4} * model.layers *
                                    row.integer("kv_heads", 1, 1024) *
                                    row.integer("head_dim", 1, 4096);
    if (model.family != "moe-mla" && model.kv_bytes_per_token_bf16 != from_shape) {
      row.fault("kv_bytes_per_token_bf16",
                fmt::format("kv_bytes_per_token_bf16 is {}, but the shape gives {}",
                            model.kv_bytes_per_token_bf16, from_shape));
    }
    model.origin = row.origin();
    const std::string id = model.id;
    catalog_.model_index_.emplace(id,
                                  catalog_.models.push_back(std::move(model)).value);
  });
}

void CatalogReader::read_step_profiles() {
  static constexpr std::string_view kPrecisions[] = {"bf16", "fp8"};
  constexpr std::int64_t kSecond = 1'000'000'000'000;
  Keys keys;
  each_row("step_profiles", [&](const Row& row) {
    StepProfile profile;
    profile.id = row.required("id");
    keys.claim(row, "id", profile.id);
    if (const auto model = row.refer("model", catalog_.model_index_)) {
      profile.model = ModelId{*model};
    }
    if (const auto gpu = row.refer("gpu", catalog_.gpu_index_)) {
      profile.gpu = GpuId{*gpu};
      if (row.text("precision") == "fp8" &&
          !catalog_.gpus[profile.gpu].fp8_dense_tflops) {
        row.fault("precision", fmt::format("{} has no fp8", row.text("gpu")));
      }
    }
    profile.tensor_parallel = static_cast<int>(row.integer("tensor_parallel", 1, 72));
    profile.precision = row.word("precision", kPrecisions);
    profile.step = {row.integer("t0_ps", 1, 10 * kSecond),
                    row.integer("b_ps", 0, kSecond),
                    row.integer("c_ps", 0, kSecond),
                    row.integer("t0_prefill_ps", 1, 10 * kSecond),
                    row.integer("a_ps", 1, kSecond),
                    row.integer("f_ps", 0, 10 * kSecond),
                    row.integer("b_prefill_ps", 0, kSecond),
                    row.integer("c_prefill_ps", 0, kSecond),
                    row.integer("d_ps", 0, kSecond)};
    profile.kv_block_tokens = row.integer("kv_block_tokens", 1, 4096);
    profile.kv_blocks = row.integer("kv_blocks", 1, 1'000'000'000);
    profile.chunk_tokens = row.integer("chunk_tokens", 16, 10'000'000);
    profile.front_end_ms = row.number("front_end_ms", 0, 10000);
    profile.basis = row.one_of<Basis>("basis", basis_words());
    profile.error_pct = row.number("error_pct", 0, 200);
    profile.source = row.text("source");
    catalog_.profiles.push_back(std::move(profile));
  });
}

void CatalogReader::read_daily_profiles() {
  static constexpr std::string_view kDayTypes[] = {"weekday", "weekend"};
  Keys keys;
  std::map<std::string, int> rows_of;
  each_row("daily_profiles", [&](const Row& row) {
    const std::string& name = row.required("profile");
    const bool weekday = row.word("day_type", kDayTypes) == "weekday";
    keys.claim(row, "profile", name + " " + row.text("day_type"));
    auto it = std::ranges::find(catalog_.daily_profiles, name, &DailyProfile::name);
    if (it == catalog_.daily_profiles.end()) {
      DailyProfile fresh;
      fresh.name = name;
      it = catalog_.daily_profiles.insert(it, std::move(fresh));
    }
    ++rows_of[name];
    std::array<double, 24>& hours = weekday ? it->weekday : it->weekend;
    for (std::size_t hour = 0; hour < hours.size(); ++hour) {
      hours[hour] = row.number(fmt::format("h{:02}", hour), 0, 24);
    }
    const double mean = std::accumulate(hours.begin(), hours.end(), 0.0) / 24;
    if (std::abs(mean - 1) > kMeanTolerance) {
      row.fault("h00", fmt::format("hours have mean {:.4f}, expected 1", mean));
    }
    (weekday ? it->weekday_factor : it->weekend_factor) =
        row.number("day_factor", 0, 7);
    // Both rows read: five and two days must make a week of mean 1 (factors are given
    // to two digits).
    const double week = (5 * it->weekday_factor + 2 * it->weekend_factor) / 7;
    if (rows_of[name] == 2 && std::abs(week - 1) > 5e-3) {
      row.fault("day_factor",
                fmt::format("the week of \"{}\" has mean {:.4f}", name, week));
    }
  });
  each_row("daily_profiles", [&](const Row& row) {
    if (rows_of[row.text("profile")] == 1) {
      row.fault("profile", fmt::format("profile \"{}\" has only its {} row",
                                       row.text("profile"), row.text("day_type")));
    }
  });
}

}  // namespace isochrone::datasets
