#include "geo/cuts.h"

#include <cctype>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include "base/diagnostics.h"

namespace isochrone::geo {
namespace {

std::map<std::string, std::string> country_by_hub(const NetworkTables& tables) {
  std::map<std::string, std::string> countries;
  for (const Hub& hub : tables.hubs) countries[hub.name] = hub.country.text();
  return countries;
}

std::string link_cut(const std::string& from, const std::string& to) {
  return "link/" + from + "-" + to;
}

/// All names by which one link may be cut; the second spelling of `link/` comes last.
std::vector<std::string> names_of(const Link& link,
                                  const std::map<std::string, std::string>& countries) {
  std::vector<std::string> names;
  if (link.submarine) names.push_back("cable/" + link.name);
  for (const std::string& tag : link.chokepoints) names.push_back("chokepoint/" + tag);
  for (const std::string& hub : {link.from, link.to}) {
    names.push_back("country/" + countries.at(hub));
  }
  names.push_back(link_cut(link.from, link.to));
  names.push_back(link_cut(link.to, link.from));
  return names;
}

/// Letters and digits alone, in lower case.
std::string plain(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

}  // namespace

std::string cut_hint(const NetworkTables& tables, const std::string& name) {
  const std::vector<std::string> known = known_cuts(tables);
  std::vector<std::string> words = known;  // by which a cut may be meant
  std::map<std::string, std::string> cut_of;
  for (const std::string& cut : known) {
    const std::string word = cut.substr(cut.find('/') + 1);
    if (plain(cut) == plain(name) || plain(word) == plain(name)) {
      return "did you mean \"" + cut + "\"?";
    }
    words.push_back(word);
    cut_of.emplace(word, cut);
  }
  for (const Link& link : tables.links) {
    words.push_back(link_cut(link.from, link.to));
    words.push_back(link_cut(link.to, link.from));
  }
  if (const auto near = nearest(name, words)) {
    const auto cut = cut_of.find(*near);
    return "did you mean \"" + (cut == cut_of.end() ? *near : cut->second) + "\"?";
  }
  return did_you_mean(name, known);
}

std::vector<std::string> known_cuts(const NetworkTables& tables) {
  const auto countries = country_by_hub(tables);
  std::set<std::string> names;
  for (const Link& link : tables.links) {
    auto of_link = names_of(link, countries);
    // Parallel cables are listed in either order of their ends: show one spelling.
    of_link.resize(of_link.size() - 2);
    of_link.push_back(link.from < link.to ? link_cut(link.from, link.to)
                                          : link_cut(link.to, link.from));
    names.insert(of_link.begin(), of_link.end());
  }
  return {names.begin(), names.end()};
}

std::vector<bool> standing_links(const NetworkTables& tables,
                                 std::span<const std::string> cuts) {
  std::vector<bool> standing(tables.links.size(), true);
  if (cuts.empty()) return standing;
  const auto countries = country_by_hub(tables);
  std::set<std::string> unknown(cuts.begin(), cuts.end());
  const std::set<std::string> wanted = unknown;
  for (std::size_t i = 0; i < tables.links.size(); ++i) {
    for (const std::string& name : names_of(tables.links[i], countries)) {
      if (!wanted.contains(name)) continue;
      standing[i] = false;
      unknown.erase(name);
    }
  }
  if (unknown.empty()) return standing;
  std::string message;
  for (const std::string& name : unknown) {
    if (!message.empty()) message += "\n";
    message += "unknown cut \"" + name + "\"";
    const std::string hint = cut_hint(tables, name);
    if (!hint.empty()) message += "; " + hint;
  }
  throw std::invalid_argument(message);
}

}  // namespace isochrone::geo
