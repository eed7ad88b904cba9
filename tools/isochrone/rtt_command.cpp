#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "datasets/pings.h"
#include "geo/network.h"
#include "tools/isochrone/rtt_cuts.h"
#include "tools/isochrone/rtt_endpoint.h"
#include "tools/isochrone/rtt_evaluation.h"
#include "tools/isochrone/session.h"

namespace isochrone::tools {
namespace {

struct RttOptions {
  std::string from;
  std::string to;
  CutRequest cuts;
  std::string regime = "public";
  std::string evaluate;
  std::string places;
  bool no_overrides = false;
  double min_km = 100;
  std::size_t worst = 20;
  std::string format = "table";
};

geo::Regime regime_of(const RttOptions& options) {
  return options.regime == "public" ? geo::Regime::kPublic : geo::Regime::kBackbone;
}

template <class F>
auto naming_unknown_cuts(F question) {
  try {
    return question();
  } catch (const std::invalid_argument& unknown) {
    usage_error(unknown.what());
  }
}

void run_cuts(const RttOptions& options, Session& session) {
  if (options.format != "table") {
    usage_error("--format json and csv are for two places or --evaluate",
                "what a cut does to all is told as a table");
  }
  print(naming_unknown_cuts([&] {
    return cut_effects(session.catalog(), regime_of(options), options.cuts,
                       options.worst);
  }));
}

void run_evaluation(const RttOptions& options, Session& session) {
  if (options.places.empty()) usage_error("--evaluate needs --places PLACES.csv");
  if (!options.from.empty()) usage_error("--evaluate takes no pair of places");
  const auto file = datasets::PingFile::read(options.evaluate, options.places);
  for (const auto& warnings :
       {datasets::misplaced(file, session.catalog()), file.warnings}) {
    for (const Diagnostic& warning : warnings) session.log(render(warning, ""));
  }
  const RttEvaluation evaluation =
      evaluate_rtts(session.catalog(), file, regime_of(options), !options.no_overrides,
                    options.min_km);
  print(options.format == "json"  ? evaluation_json(evaluation, options.worst)
        : options.format == "csv" ? evaluation_csv(evaluation)
                                  : evaluation_table(evaluation, options.worst));
}

/// The end that a word means; where others have its name, says which was taken.
geo::Endpoint end_of(const std::string& word, Session& session) {
  const NamedEndpoint found = find_endpoint(session.catalog(), word);
  if (!found.others.empty()) {
    session.log(fmt::format("warning: \"{}\" is taken for {}, {}; there is also {}",
                            word, found.endpoint.name, found.endpoint.country.text(),
                            fmt::join(found.others, ", ")));
  }
  return found.endpoint;
}

void run_rtt(const RttOptions& options, Session& session) {
  if (!options.evaluate.empty()) return run_evaluation(options, session);
  if (options.cuts.reserve_pct && options.cuts.names.empty()) {
    usage_error("--reserve has no effect without --cut NAME");
  }
  if (options.from.empty() && !options.cuts.names.empty()) {
    return run_cuts(options, session);
  }
  if (options.to.empty()) {
    usage_error("rtt needs two places, or --cut NAME, or --evaluate FILE");
  }
  const datasets::Catalog& catalog = session.catalog();
  const geo::Endpoint from = end_of(options.from, session);
  const geo::Endpoint to = end_of(options.to, session);
  const geo::Regime regime = regime_of(options);
  const geo::NetworkTables& network = catalog.network;
  const geo::Route route = naming_unknown_cuts([&] {
    return geo::NetworkModel(network, options.cuts.all(network))
        .route(regime, from, to);
  });
  if (options.format == "json") {
    return print(route_json(route, from, to, options.regime));
  }
  if (options.format == "csv") return print(route_csv(route));
  print(geo::to_text(route));
  if (options.cuts.names.empty()) return;
  const std::string straits = corridor_text(network, options.cuts);
  if (!straits.empty()) print(straits);
  const Micros before = geo::NetworkModel(network).route(regime, from, to).total.rtt;
  print(fmt::format("without the cut: {}; the cut adds {}", to_text(before),
                    to_text(route.total.rtt - before)));
  if (route.total.rtt == before) {
    print(fmt::format("the cut changes nothing on the shortest path{}", kOthersBeside));
  }
}

}  // namespace

void add_rtt(CLI::App& app, Session& session) {
  auto options = std::make_shared<RttOptions>();
  CLI::App* command =
      app.add_subcommand("rtt", "Where the milliseconds between two places go");
  command->add_option("from", options->from,
                      "Site id, metro id, city, or \"City, CC\"");
  command->add_option("to", options->to, "Site id, metro id, city, or \"City, CC\"");
  command
      ->add_option("--cut", options->cuts.names,
                   "chokepoint/NAME, cable/NAME, link/A-B or country/CC; without two "
                   "places: the pairs and users that suffer most")
      ->allow_extra_args(false);
  command
      ->add_option("--reserve", options->cuts.reserve_pct,
                   "Per cent of its capacity that a strait holds in reserve: where the "
                   "cuts take more, it counts as cut whole")
      ->check(number_within(0, 100));
  command->add_option("--regime", options->regime, "public or backbone")
      ->check(CLI::IsMember({"public", "backbone"}))
      ->capture_default_str();
  command
      ->add_option("--evaluate", options->evaluate,
                   "Instead: compare the model with measurements, a CSV file with "
                   "columns from,to,rtt_ms_p50")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--places", options->places,
                   "Where its places lie, a CSV file with columns "
                   "place,city,country,lat,lon")
      ->check(CLI::ExistingFile);
  command->add_flag("--no-overrides", options->no_overrides,
                    "The model alone, without the measurements that ship");
  command
      ->add_option("--min-km", options->min_km,
                   "Leave out pairs nearer than this great circle")
      ->check(CLI::Range(0, 20100))
      ->capture_default_str();
  command->add_option("--worst", options->worst, "How many of the worst pairs to list")
      ->capture_default_str();
  command
      ->add_option("--format", options->format,
                   "table, json, or csv of all hops or pairs")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  command->callback([options, &session] { run_rtt(*options, session); });
}

}  // namespace isochrone::tools
