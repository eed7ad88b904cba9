#include "geo/jurisdiction.h"

#include <utility>

namespace isochrone::geo {

Blocs::Blocs(std::map<std::string, std::set<CountryCode>> members)
    : members_(std::move(members)) {}

const std::set<CountryCode>* Blocs::find(std::string_view name) const {
  const auto bloc = members_.find(std::string(name));
  return bloc == members_.end() ? nullptr : &bloc->second;
}

std::optional<std::set<CountryCode>> Blocs::expand(
    std::string_view word, const std::set<CountryCode>& known_countries) const {
  const auto code = CountryCode::parse(word);
  if (code && known_countries.contains(*code)) return std::set<CountryCode>{*code};
  if (const auto* bloc = find(word)) return *bloc;
  return std::nullopt;
}

std::vector<std::string> Blocs::names() const {
  std::vector<std::string> names;
  for (const auto& [name, countries] : members_) names.push_back(name);
  return names;
}

}  // namespace isochrone::geo
