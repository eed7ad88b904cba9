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
#include "scenarios/field_path.h"
#include "scenarios/residency.h"
#include "scenarios/schema.h"
#include "scenarios/vocabulary.h"
#include "tools/isochrone/explain_infeasible.h"
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
  bool infeasible = false;
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

std::vector<std::string> words_at(std::string_view path) {
  return scenarios::words_of(scenarios::format_of(*scenarios::field_at(path)));
}

void check_word(const std::string& option, const std::string& word,
                const std::vector<std::string>& known) {
  if (std::ranges::count(known, word) > 0) return;
  usage_error(
      fmt::format("{}: \"{}\" is not {}", option, word, scenarios::choice_text(known)),
      did_you_mean(word, known));
}

/// Whose data. Two words in the wrong order are told so, not each as unknown.
geo::CountryCode check_explain(const ExplainOptions& options,
                               const datasets::Catalog& catalog) {
  const std::string& country = options.residency.at(0);
  const std::string& data = options.residency.at(1);
  const auto known = [&](const std::string& word) {
    const auto code = geo::CountryCode::parse(word);
    return code && catalog.country(*code);
  };
  const std::vector<std::string> classes = words_at("workloads.data");
  if (known(data) && std::ranges::count(classes, country) > 0) {
    usage_error("--residency takes the country first, then the class of the data",
                fmt::format("did you mean --residency {} {}?", data, country));
  }
  if (!known(country)) {
    usage_error(fmt::format("--residency: \"{}\" is no country code", country),
                country_hint(country, catalog));
  }
  check_word("--residency", data, classes);
  for (const std::string& mechanism : options.mechanisms) {
    check_word("--mechanisms", mechanism, words_at("residency.law.mechanisms"));
  }
  if (!scenarios::is_date(options.from_day)) {
    usage_error(fmt::format("--on: \"{}\" is no day; expected one as 2026-12-01",
                            options.from_day));
  }
  return *geo::CountryCode::parse(country);
}

void run_explain(const ExplainOptions& options, Session& session) {
  if (options.infeasible) {
    if (options.scenario.empty()) usage_error("--infeasible needs a scenario");
    explain_infeasible(options.scenario, session);
    return;
  }
  const datasets::Catalog& catalog = session.catalog();
  const geo::CountryCode from = check_explain(options, catalog);
  const scenarios::Scenario scenario = options.scenario.empty()
                                           ? law_only(catalog, from, options)
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
                    options.residency.at(1), from.text());
    std::map<std::string, std::vector<std::string>> summary;
    for (const geo::CountryCode to : hosts) {
      const auto verdict = rules.verdict(from, static_cast<std::size_t>(w), to);
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
      "row: --residency FROM CLASS; why there is no plan, and what would help: "
      "--infeasible");
  command->add_option("scenario", options->scenario,
                      "Scenario file; unset: the law alone, with --mechanisms on --on; "
                      "with --site or --region a plan file will do");
  auto* residency = command
                        ->add_option("--residency", options->residency,
                                     "Country of the users and class of the data")
                        // CLI11 gives an option every word that follows, the
                        // scenario's name too.
                        ->expected(2, 3);
  auto* site = command->add_option("--site", options->site,
                                   "Pools, bill, users and loss of an open site");
  auto* region = command->add_option("--region", options->region,
                                     "Where the users' data and time of a region go");
  residency->excludes(site)->excludes(region);
  site->excludes(region);
  command->add_option("--plan", options->plan, "Plan file, for --site and --region");
  auto* infeasible =
      command->add_flag("--infeasible", options->infeasible,
                        "The conflict, and single relaxations tried with quick effort");
  infeasible->excludes(residency)->excludes(site)->excludes(region);
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
    if (options->residency.empty() && !options->infeasible) {
      throw CLI::RequiredError("one of --residency, --site, --region and --infeasible");
    }
    if (options->residency.size() == 3) {
      if (!options->scenario.empty()) usage_error("--residency takes two words");
      options->scenario = options->residency.back();
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

namespace {

/// Commands and fields share a name or two: then both are told.
std::string help_on(const CLI::App& app, const std::string& topic) {
  std::string text;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
    if (topic == command->get_name()) text = command->help("isochrone");
  }
  const std::string manual = scenarios::manual(topic);
  if (!text.empty() && !manual.empty()) text += "\nIn a scenario, ";
  text += manual;
  if (!text.empty()) return text;
  const std::string command = did_you_mean(topic, names);
  usage_error(fmt::format("no command and no scenario field is called \"{}\"", topic),
              command.empty() ? scenarios::did_you_mean_field(topic) : command);
}

}  // namespace

void add_help(CLI::App& app, Session&) {
  auto topic = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "help",
      "The manual of a command or of a scenario field, e.g. `help sites.build.pue`");
  command->add_option("topic", *topic,
                      "Command or field path; unset: the commands, then the fields");
  command->callback([topic, &app] {
    // app.help() would be that of the command that runs, this one.
    const auto commands = [&app] {
      return app.get_formatter()->make_help(&app, "isochrone",
                                            CLI::AppFormatMode::Normal);
    };
    print(topic->empty() ? commands() + "\nA file of one " + scenarios::manual("")
                         : help_on(app, *topic));
  });
}

}  // namespace isochrone::tools
