#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "place/plan_file/atomic_file.h"
#include "place/plan_file/explain.h"
#include "place/plan_file/plan_file.h"
#include "place/planner/question.h"
#include "scenarios/residency.h"
#include "tools/isochrone/session.h"
#include "tools/isochrone/template.h"

namespace isochrone::tools {
namespace {

struct ValidateOptions {
  std::vector<std::string> scenarios;
  bool schema = false;
  bool normalised = false;
};

void run_validate(const ValidateOptions& options, Session& session) {
  if (options.schema) {
    print(scenarios::json_schema());
    return;
  }
  for (const std::string& path : options.scenarios) {
    try {
      const scenarios::Scenario scenario = session.scenario(path);
      // What only shows when the question is spelt out: users, offers, network.
      place::Question::ask(scenario, session.catalog());
      print(options.normalised
                ? scenario.normalised
                : fmt::format("{}: valid, {} workloads, {} demand entries", path,
                              scenario.spec.workloads_size(),
                              scenario.spec.demand_size()));
    } catch (const InputError& fault) {
      complain(fault.what());
      session.exit = kBadInput;
    }
  }
}

struct ExplainOptions {
  std::string scenario;
  std::vector<std::string> residency;   // FROM CLASS
  std::vector<std::string> mechanisms;  // in place, where no scenario says
  std::string from_day = "2027-01-01";  // of twelve months, where no scenario says
  std::string plan;
  std::string site;
  std::string region;
};

/// A scenario that asks about nothing but residency, for when none is given.
scenarios::Scenario law_only(const datasets::Catalog& catalog, geo::CountryCode from,
                             const ExplainOptions& options) {
  return scenarios::parse_scenario(
      fmt::format("name: law\n"
                  "horizon: {{order_date: {2}, start: {2}, months: 12}}\n"
                  "workloads: [{{name: w, kind: service, service_ms: {{constant: 1}}, "
                  "streams_per_gpu: 1, data: [{0}], slo: {{e2e_p95_ms: 1000}}}}]\n"
                  "demand: [{{name: d, workload: w, users: {{\"{1}\": 1}}, "
                  "requests_per_user_day: 1, daily_profile: flat, access: none}}]\n"
                  "residency: {{mode: law, law: {{mechanisms: [{3}], unknown: "
                  "deny}}}}\n",
                  options.residency.at(1), from.text(), options.from_day,
                  fmt::join(options.mechanisms, ", ")),
      "(law only)", ".", catalog);
}

void run_explain(const ExplainOptions& options, Session& session) {
  const datasets::Catalog& catalog = session.catalog();
  const auto from = geo::CountryCode::parse(options.residency.at(0));
  if (!from || !catalog.country(*from)) {
    std::vector<std::string> codes;
    for (const auto code : catalog.country_codes()) codes.push_back(code.text());
    usage_error(
        fmt::format("--residency: \"{}\" is no country code", options.residency.at(0)),
        did_you_mean(options.residency.at(0), codes));
  }
  const scenarios::Scenario scenario = options.scenario.empty()
                                           ? law_only(catalog, *from, options)
                                           : session.scenario(options.scenario);
  const scenarios::ResidencyRules rules(scenario, catalog);
  std::set<geo::CountryCode> hosts;
  for (const datasets::Site& site : catalog.sites) hosts.insert(site.country);
  std::string text;
  for (int w = 0; w < scenario.spec.workloads_size(); ++w) {
    const auto& data = scenario.spec.workloads(w).data();
    if (std::ranges::count(data, options.residency.at(1)) == 0) continue;
    text +=
        fmt::format("{}, data {}, users in {}:\n", scenario.spec.workloads(w).name(),
                    options.residency.at(1), from->text());
    std::map<std::string, std::vector<std::string>> summary;
    for (const geo::CountryCode to : hosts) {
      const auto verdict = rules.verdict(*from, static_cast<std::size_t>(w), to);
      const std::string word = verdict.allowed   ? "allowed"
                               : verdict.unknown ? "unknown"
                                                 : "forbidden";
      summary[word].push_back(to.text());
      text += fmt::format("  {}  {:<9}  {}\n", to.text(), word, verdict.mechanism);
      for (const std::string& link : verdict.chain) text += "        " + link + "\n";
    }
    for (const auto& [word, countries] : summary) {
      text += fmt::format("{} in {} of the {} countries with sites: {}\n", word,
                          countries.size(), hosts.size(), fmt::join(countries, " "));
    }
  }
  if (text.empty()) {
    usage_error(fmt::format("no workload of the scenario has data of class \"{}\"",
                            options.residency.at(1)));
  }
  print(text);
}

void explain_plan(const ExplainOptions& options) {
  const std::string& file = options.plan.empty() ? options.scenario : options.plan;
  if (file.empty()) usage_error("--site and --region ask for a plan: --plan FILE");
  const plan::Plan plan = place::read_plan(file);
  try {
    print(options.site.empty() ? place::explain_region(plan, options.region)
                               : place::explain_site(plan, options.site));
  } catch (const std::invalid_argument& unknown) {
    usage_error(unknown.what());
  }
}

}  // namespace

void add_validate(CLI::App& app, Session& session) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      app.add_subcommand("validate", "Check scenario files; all mistakes at once");
  auto* files = command->add_option("scenarios", options->scenarios, "Scenario files");
  auto* schema = command->add_flag("--schema", options->schema,
                                   "Print the JSON Schema of the format instead");
  command->add_flag("--normalised", options->normalised,
                    "Print the canonical JSON of each valid scenario");
  command->callback([options, files, schema, &session] {
    if (files->count() == 0 && schema->count() == 0) {
      throw CLI::RequiredError("scenarios");
    }
    run_validate(*options, session);
  });
}

void add_explain(CLI::App& app, Session& session) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand(
      "explain",
      "A site or region of a plan: --site S or --region R; where data may go, row by "
      "row: --residency FROM CLASS");
  command->add_option("scenario", options->scenario,
                      "Scenario file; unset: the law alone, with --mechanisms on --on; "
                      "with --site or --region a plan file will do");
  auto* residency = command
                        ->add_option("--residency", options->residency,
                                     "Country of the users and class of the data")
                        ->expected(2);
  auto* site = command->add_option("--site", options->site,
                                   "Pools, bill, users and loss of an open site");
  auto* region = command->add_option("--region", options->region,
                                     "Where the users' data and time of a region go");
  residency->excludes(site)->excludes(region);
  site->excludes(region);
  command->add_option("--plan", options->plan, "Plan file, for --site and --region");
  command
      ->add_option("--mechanisms", options->mechanisms,
                   "In place, where no scenario is given, e.g. adequacy,scc")
      ->delimiter(',');
  command
      ->add_option("--on", options->from_day,
                   "First day of twelve months, where no scenario is given")
      ->capture_default_str();
  command->callback([options, &session] {
    if (!options->site.empty() || !options->region.empty())
      return explain_plan(*options);
    if (options->residency.empty()) {
      throw CLI::RequiredError("one of --residency, --site and --region");
    }
    run_explain(*options, session);
  });
}

void add_init(CLI::App& app, Session&) {
  auto output = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("init", "A commented scenario to start from");
  command->add_option("-o,--output", *output, "File; unset: standard output");
  command->callback([output] {
    if (output->empty()) {
      print(kScenarioTemplate);
    } else {
      if (std::filesystem::exists(*output)) {
        throw InputError({{Severity::kError,
                           {*output, 0, 0},
                           "is there already; init replaces no file",
                           ""}});
      }
      check_output(*output, {});
      place::write_file_atomically(*output, kScenarioTemplate);
    }
  });
}

void add_help(CLI::App& app, Session&) {
  auto topic = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "help", "The manual of a scenario field, e.g. `help sites.build.pue`");
  command->add_option("topic", *topic, "Field path; unset: the top level");
  command->callback([topic] {
    const std::string text = scenarios::manual(*topic);
    if (text.empty()) {
      usage_error(fmt::format("no scenario field is called \"{}\"", *topic));
    }
    print(text);
  });
}

}  // namespace isochrone::tools
