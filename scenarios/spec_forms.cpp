#include <fmt/format.h>

#include "scenarios/spec_reader.h"

namespace isochrone::scenarios {

void SpecReader::read_objectives(const Value& value, spec::Slo& slo) {
  if (!expect(value, YamlNode::Kind::kMapping, "a mapping of objectives")) return;
  for (const YamlEntry* entry : entries(value)) {
    if (entry->key.text != "rtt_max_ms") {
      read_objective(*entry, value, slo);
      continue;
    }
    const Field& field = *field_of(*slo.GetDescriptor(), "rtt_max_ms");
    read_field({entry->value, value.path + ".rtt_max_ms", entry->key.position}, field,
               slo);
  }
}

void SpecReader::read_objective(const YamlEntry& entry, const Value& in,
                                spec::Slo& slo) {
  const auto key = parse_objective_key(entry.key.text);
  if (!key) {
    const std::string with_unit = entry.key.text + "_ms";
    if (!parse_objective_key(with_unit)) {
      return unknown_key(entry, in, usual_objective_keys());
    }
    // The unit is too large a part of the key for the two to be alike.
    fault(entry.key.position,
          fmt::format("unknown field {} in {}", describe(entry.key), in.path),
          fmt::format("did you mean \"{}\"?", with_unit));
    return;
  }
  const Field& percentile = *field_of(*spec::Objective::descriptor(), "percentile");
  if (!in_range(format_of(percentile), key->percentile)) {
    fault(entry.key.position,
          fmt::format("the percentile of {}.{} is {}, expected {}", in.path,
                      entry.key.text, number_text(key->percentile),
                      range_text(format_of(percentile))));
    return;
  }
  const Value value{entry.value, in.path + "." + entry.key.text, entry.key.position};
  const std::string canonical =
      in.path + "." + objective_key(key->metric, key->percentile);
  for (const spec::Objective& other : slo.objectives()) {
    if (other.metric() == key->metric && other.percentile() == key->percentile) {
      fault(entry.key.position, canonical + " is given twice");
      return;
    }
  }
  source_.put(canonical, value.node.position);
  spec::Objective& objective = *slo.add_objectives();
  objective.set_metric(key->metric);
  objective.set_percentile(key->percentile);
  const Field& ms = *field_of(*objective.GetDescriptor(), "ms");
  const auto number = read_number(value, format_of(ms));
  if (number) objective.set_ms(*number);
}

void SpecReader::read_one_of(const Value& value, Message& message) {
  const std::string choice = choice_text(keys_of(*message.GetDescriptor()));
  if (value.node.kind == YamlNode::Kind::kText && parse_number(value.node.text)) {
    fault(value.node.position,
          fmt::format("{} is {}, expected a mapping with one of {}", value.path,
                      describe(value.node), choice),
          fmt::format("did you mean {{constant: {}}}?", value.node.text));
    return;
  }
  if (!expect(value, YamlNode::Kind::kMapping, "a mapping with one of " + choice)) {
    return;
  }
  if (value.node.entries.size() > 1) {
    fault(value.node.entries[1].key.position,
          fmt::format("{} has {} forms, expected exactly one of {}", value.path,
                      value.node.entries.size(), choice));
  }
  if (value.node.entries.empty()) {
    fault(value.node.position,
          fmt::format("{} is empty, expected one of {}", value.path, choice));
  }
  read_fields(value, message);
}

void SpecReader::read_users(const Value& value, spec::Users& users) {
  if (value.node.kind == YamlNode::Kind::kMapping) {
    if (value.node.entries.empty()) {
      fault(value.node.position, fmt::format("{} is empty", value.path));
    }
    return read_map(value, *field_of(*users.GetDescriptor(), "by_country"), users);
  }
  if (!expect(value, YamlNode::Kind::kText,
              "a number or a mapping from countries to numbers")) {
    return;
  }
  const Field& total = *field_of(*users.GetDescriptor(), "total");
  if (const auto number = read_number(value, format_of(total))) {
    users.set_total(*number);
  }
}

void SpecReader::read_profile(const Value& value, spec::DailyProfile& profile) {
  if (value.node.kind == YamlNode::Kind::kList) {
    const std::size_t count = value.node.items.size();
    if (count != 24 && count != 168) {
      fault(value.node.position,
            fmt::format("{} has {} numbers, expected 24 or 168", value.path, count));
      return;
    }
    const Field& hours = *field_of(*profile.GetDescriptor(), "hours");
    return read_list(value, hours, format_of(hours), profile);
  }
  if (!expect(value, YamlNode::Kind::kText, "a name, 24 or 168 numbers")) return;
  const Field& name = *field_of(*profile.GetDescriptor(), "name");
  if (auto text = read_text(value, format_of(name))) profile.set_name(*text);
}

void SpecReader::read_access(const Value& value, spec::Access& access) {
  if (value.node.kind == YamlNode::Kind::kMapping) {
    const Field& rtt = *field_of(*access.GetDescriptor(), "rtt_ms");
    bool given = false;
    for (const YamlEntry* entry : entries(value)) {
      if (entry->key.text != "rtt_ms") {
        unknown_key(*entry, value, {"rtt_ms"});
        continue;
      }
      given = true;
      read_field({entry->value, value.path + ".rtt_ms", entry->key.position}, rtt,
                 access);
    }
    if (!given) fault(value.named_at, fmt::format("{} has no rtt_ms", value.path));
    return;
  }
  if (!expect(value, YamlNode::Kind::kText, "a word or {rtt_ms: number}")) return;
  const Field& kind = *field_of(*access.GetDescriptor(), "kind");
  if (auto text = read_text(value, format_of(kind))) access.set_kind(*text);
}

}  // namespace isochrone::scenarios
