#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "scenarios/checks.h"
#include "scenarios/schema.h"

namespace isochrone::scenarios {
namespace {

using Keys = std::vector<std::string_view>;

struct KindFormat {
  std::string_view kind;
  Keys needed;
  Keys refused;  // they mean something else, or nothing, for this kind
  Keys idle;     // they do no harm
  Keys metrics;
};

const std::array<KindFormat, 3>& kind_formats() {
  static const std::array<KindFormat, 3> formats = {
      KindFormat{"llm",
                 {"input_tokens", "output_tokens"},
                 {"service_ms", "streams_per_gpu", "batch"},
                 {},
                 {"ttft", "tpot", "e2e"}},
      KindFormat{"service",
                 {"service_ms", "streams_per_gpu"},
                 {"model", "precision", "tensor_parallel", "rate", "input_tokens",
                  "output_tokens", "prefix_hit_share", "batch"},
                 {"payload.down_bytes_per_token"},
                 {"e2e"}},
      KindFormat{"batch",
                 {"batch"},
                 {"model", "precision", "tensor_parallel", "rate", "input_tokens",
                  "output_tokens", "prefix_hit_share", "session", "service_ms",
                  "streams_per_gpu", "front_end_ms"},
                 {"connection", "payload"},
                 {}}};
  return formats;
}

const KindFormat* format_of_kind(std::string_view kind) {
  const auto& formats = kind_formats();
  const auto found = std::ranges::find(formats, kind, &KindFormat::kind);
  return found == formats.end() ? nullptr : &*found;
}

void check_kind(const CheckContext& context, const spec::Workload& workload,
                const std::string& path) {
  const KindFormat* format = format_of_kind(workload.kind());
  if (format == nullptr) return;
  for (const std::string_view key : format->needed) {
    if (context.given(fmt::format("{}.{}", path, key))) continue;
    context.error(path, fmt::format("{} has no {}, which kind {} needs", path, key,
                                    format->kind));
  }
  for (const std::string_view key : format->refused) {
    const std::string at = fmt::format("{}.{}", path, key);
    if (!context.given(at)) continue;
    context.error(at, fmt::format("{} is not for kind {}", at, format->kind));
  }
  for (const std::string_view key : format->idle) {
    const std::string at = fmt::format("{}.{}", path, key);
    if (!context.given(at)) continue;
    context.warning(at, fmt::format("{} has no effect for kind {}", at, format->kind));
  }
}

void check_model(const CheckContext& context, const spec::Workload& workload,
                 const std::string& path) {
  if (workload.kind() != "llm") return;
  const bool has_rate = context.given(path + ".rate");
  const bool has_model = context.given(path + ".model");
  if (!has_model && !has_rate) {
    context.error(path,
                  fmt::format("{} has neither model nor rate, one of which kind llm "
                              "needs",
                              path));
  }
  if (has_model && has_rate) {
    context.error(path + ".rate", fmt::format("{} has both model and rate; the rate "
                                              "stands instead of a model",
                                              path));
  }
  if (!workload.has_model()) {
    for (const char* key : {"precision", "tensor_parallel"}) {
      const std::string at = fmt::format("{}.{}", path, key);
      if (!has_rate || !context.given(at)) continue;
      context.warning(at, fmt::format("{} has no effect beside a rate", at));
    }
    return;
  }
  std::vector<std::string> known = context.vocabulary.models();
  for (const spec::Model& own : context.spec.models()) known.push_back(own.name());
  if (std::ranges::count(known, workload.model()) > 0) return;
  context.error(path + ".model",
                fmt::format("{}.model is \"{}\", which is no model of the scenario or "
                            "the catalog",
                            path, workload.model()),
                did_you_mean(workload.model(), known));
}

/// Longest context of a model by name; 0 if it is not known.
int max_context(const CheckContext& context, std::string name) {
  for (const spec::Model& own : context.spec.models()) {
    if (own.name() != name) continue;
    if (own.has_max_context()) return own.max_context();
    name = own.like();
    break;
  }
  const auto& catalog = context.vocabulary.catalog();
  const auto id = catalog.model(name);
  return id ? catalog.models[*id].max_context : 0;
}

double mean_of(const spec::Law& law) {
  if (law.has_constant()) return law.constant();
  if (law.has_uniform()) return (law.uniform().min() + law.uniform().max()) / 2;
  return law.lognormal().mean();
}

void check_context(const CheckContext& context, const spec::Workload& workload,
                   const std::string& path) {
  const int limit = max_context(context, workload.model());
  const double tokens =
      mean_of(workload.input_tokens()) + mean_of(workload.output_tokens());
  if (limit == 0 || tokens <= limit) return;
  context.error(path + ".input_tokens",
                fmt::format("prompt and answer have {} tokens in the mean, more than "
                            "the {} that {} can hold",
                            number_text(tokens), limit, workload.model()));
}

void check_data(const CheckContext& context, const spec::Workload& workload,
                const std::string& path) {
  if (workload.data_size() < 2 || std::ranges::count(workload.data(), "none") == 0) {
    return;
  }
  context.error(path + ".data",
                fmt::format("{}.data names none beside other classes", path));
}

void check_slo(const CheckContext& context, const spec::Workload& workload,
               const std::string& path) {
  check_metrics(context, workload, workload.slo(), path + ".slo");
  check_objectives(context, workload.slo(), path + ".slo");
  const bool own_ones =
      std::ranges::any_of(context.spec.demand(), [&](const spec::Demand& entry) {
        return entry.workload() == workload.name() && entry.has_slo();
      });
  const bool unset = workload.slo().objectives_size() == 0 &&
                     !workload.slo().has_rtt_max_ms() &&
                     !context.given(path + ".slo.rtt_max_ms");
  if (!unset || own_ones || workload.kind() == "batch" || workload.kind().empty()) {
    return;
  }
  context.warning(path, fmt::format("{} has no slo: any latency will do", path));
}

void check_use(const CheckContext& context, const spec::Workload& workload,
               const std::string& path) {
  const bool used = std::ranges::any_of(
      context.spec.demand(),
      [&](const spec::Demand& entry) { return entry.workload() == workload.name(); });
  if (workload.kind() == "batch" || workload.name().empty() || used) return;
  context.warning(path, fmt::format("{} \"{}\" is asked for by no demand entry", path,
                                    workload.name()));
}

void check_batch(const CheckContext& context, const spec::Workload& workload,
                 const std::string& path) {
  const bool lawless = context.spec.residency().mode() == "off" ||
                       context.spec.residency().mode().empty();
  const bool free = workload.data_size() == 1 && workload.data(0) == "none";
  if (!workload.has_batch() || lawless || free ||
      context.given(path + ".batch.data_from")) {
    return;
  }
  context.error(path + ".batch",
                fmt::format("{}.batch has no data_from, where residency starts", path));
}

}  // namespace

void check_metrics(const CheckContext& context, const spec::Workload& workload,
                   const spec::Slo& slo, const std::string& path) {
  const KindFormat* format = format_of_kind(workload.kind());
  if (format == nullptr) return;
  for (const spec::Objective& objective : slo.objectives()) {
    if (std::ranges::count(format->metrics, objective.metric()) > 0) continue;
    const std::string key = objective_key(objective.metric(), objective.percentile());
    context.error(path + "." + key,
                  fmt::format("{}.{} is not for kind {}{}", path, key, format->kind,
                              format->kind == "service" ? ", which has e2e" : ""));
  }
  if (format->metrics.empty() && slo.has_rtt_max_ms()) {
    context.error(path + ".rtt_max_ms",
                  fmt::format("{}.rtt_max_ms is not for kind {}", path, format->kind));
  }
}

void check_models(const CheckContext& context) {
  std::set<std::string> names;
  for (int i = 0; i < context.spec.models_size(); ++i) {
    const std::string& name = context.spec.models(i).name();
    const std::string path = fmt::format("models[{}]", i);
    if (name.empty()) continue;
    if (!names.insert(name).second) {
      context.error(path + ".name", fmt::format("two models are named \"{}\"", name));
    }
    if (std::ranges::count(context.vocabulary.models(), name) > 0) {
      context.error(path + ".name",
                    fmt::format("\"{}\" is a model of the catalog; an own one needs a "
                                "name of its own",
                                name));
    }
  }
}

void check_workloads(const CheckContext& context) {
  std::set<std::string> names;
  for (int i = 0; i < context.spec.workloads_size(); ++i) {
    const spec::Workload& workload = context.spec.workloads(i);
    const std::string path = fmt::format("workloads[{}]", i);
    if (!workload.name().empty() && !names.insert(workload.name()).second) {
      context.error(path + ".name",
                    fmt::format("two workloads are named \"{}\"", workload.name()));
    }
    check_kind(context, workload, path);
    check_model(context, workload, path);
    check_context(context, workload, path);
    check_law(context, workload.input_tokens(), path + ".input_tokens");
    check_law(context, workload.output_tokens(), path + ".output_tokens");
    check_law(context, workload.service_ms(), path + ".service_ms");
    check_data(context, workload, path);
    check_slo(context, workload, path);
    check_use(context, workload, path);
    check_batch(context, workload, path);
  }
}

}  // namespace isochrone::scenarios
