#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace isochrone {

/// Index of a thing of one kind. Ids of different kinds do not mix.
template <class Tag>
struct Id {
  std::uint32_t value = 0;

  constexpr std::size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

/// A vector that is read with one kind of Id only.
template <class IdType, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::vector<T> items) : items_(std::move(items)) {}
  IdVector(std::size_t size, const T& value) : items_(size, value) {}

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  decltype(auto) operator[](IdType id) { return items_[id.index()]; }
  decltype(auto) operator[](IdType id) const { return items_[id.index()]; }
  IdType push_back(T item) {
    items_.push_back(std::move(item));
    return IdType{static_cast<std::uint32_t>(items_.size() - 1)};
  }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  const std::vector<T>& items() const { return items_; }

 private:
  std::vector<T> items_;
};

}  // namespace isochrone
