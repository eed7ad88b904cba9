#include "geo/neighbour_field.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

namespace isochrone::geo {

double place_kernel(Coordinates a, Coordinates b, double reach_km) {
  return std::exp(-great_circle_km(a, b) / reach_km);
}

NeighbourField::NeighbourField(std::span<const NeighbourWeight> weights,
                               const std::vector<Hub>& hubs, double reach_km)
    : reach_km_(reach_km) {
  if (weights.empty()) return;
  if (!(reach_km > 0)) throw std::invalid_argument("a neighbour field needs a reach");
  std::map<std::string, Coordinates> places;
  for (const Hub& hub : hubs) places.emplace(hub.name, hub.at);
  std::map<std::string, std::size_t> numbers;
  const auto number = [&](const std::string& hub) {
    const auto place = places.find(hub);
    if (place == places.end()) {
      throw std::invalid_argument("neighbour weight: unknown hub \"" + hub + "\"");
    }
    const auto [entry, fresh] = numbers.try_emplace(hub, anchors_.size());
    if (fresh) anchors_.push_back(place->second);
    return entry->second;
  };
  for (const NeighbourWeight& weight : weights) {
    number(weight.from);
    number(weight.to);
  }
  weights_.resize(anchors_.size() * anchors_.size());
  for (const NeighbourWeight& weight : weights) {
    const std::size_t a = number(weight.from);
    const std::size_t b = number(weight.to);
    weights_[a * anchors_.size() + b] += weight.weight;
    weights_[b * anchors_.size() + a] += weight.weight;
  }
}

NeighbourField::View NeighbourField::view(const Coordinates& at) const {
  View view;
  for (const Coordinates& anchor : anchors_) {
    view.near.push_back(place_kernel(at, anchor, reach_km_));
  }
  for (std::size_t i = 0; i < anchors_.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < anchors_.size(); ++j) {
      sum += weights_[i * anchors_.size() + j] * view.near[j];
    }
    view.folded.push_back(sum);
  }
  return view;
}

double NeighbourField::correction(const View& a, const View& b) {
  double there = 0;
  double back = 0;
  for (std::size_t i = 0; i < a.near.size(); ++i) {
    there += a.folded[i] * b.near[i];
    back += b.folded[i] * a.near[i];
  }
  return std::clamp((there + back) / 2, -kLargest, kLargest);
}

}  // namespace isochrone::geo
