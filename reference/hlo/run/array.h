// Values while a module runs: arrays with a leading dimension of lanes, tuples of values.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/hlo/module/module.h"
#include "reference/hlo/run/elements.h"

namespace plumb::hlo {

// What an instruction cannot mean: its operands, attributes and shape do not fit. run() says where.
struct Misfit : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool holds, const char* what) {
  if (!holds) throw Misfit(what);
}

// For each device its lane.
using Holders = std::shared_ptr<const std::vector<std::int32_t>>;

// Elements of one type, row-major, for each lane. Devices that hold the same may share a lane: one lane is
// that of all, of others `holders` says whose they are; without it each is a device's. Within a reduction,
// where a computation of scalars runs for many elements at once, each of them is a lane. Integers and
// predicates are wrapped to their type, but for predicates that are undecided (integers.h); floats are numbers
// of whatever kind the run computes with.
template <typename Number>
struct Array {
  Type type = Type::pred;
  Integers dims;
  std::int64_t lanes = 1;
  std::vector<std::int64_t> integers;
  Elements<Number> reals;
  Holders holders{};
};

template <typename Number>
struct Value {
  std::shared_ptr<const Array<Number>> array;  // none: a tuple, or a token
  std::vector<Value> parts;
};

template <typename Number>
Value<Number> value(Array<Number>&& array) {
  return {std::make_shared<const Array<Number>>(std::move(array)), {}};
}

// What a root gives: the parts of a tuple, or itself alone.
template <typename Number>
std::vector<Value<Number>> results_of(const Value<Number>& root) {
  return root.array ? std::vector{root} : root.parts;
}

inline std::int64_t count(const Integers& dims) {
  std::int64_t n = 1;
  for (const std::int64_t size : dims) n *= size;
  return n;
}

// The elements of an array, whichever kind it holds.
template <typename Number, typename F>
decltype(auto) visit(const Array<Number>& array, F f) {
  return is_real(array.type) ? f(array.reals) : f(array.integers);
}
template <typename Number>
Elements<Number>& elements_of(Array<Number>& array, const Elements<Number>&) {
  return array.reals;
}
template <typename Number>
std::vector<std::int64_t>& elements_of(Array<Number>& array, const std::vector<std::int64_t>&) {
  return array.integers;
}

template <typename Number>
const Elements<Number>& elements_of(const Array<Number>& array, const Elements<Number>&) {
  return array.reals;
}
template <typename Number>
const std::vector<std::int64_t>& elements_of(const Array<Number>& array, const std::vector<std::int64_t>&) {
  return array.integers;
}

template <typename Number>
Array<Number> like(const Shape& shape, std::int64_t lanes) {
  return {shape.type, shape.dims, lanes, {}, {}, {}};
}

// How many lanes the result of arrays has: each has one, or as many as the others.
template <typename Number>
std::int64_t common_lanes(std::initializer_list<const Array<Number>*> arrays) {
  std::int64_t lanes = 1;
  for (const Array<Number>* array : arrays) {
    require(array->lanes == 1 || lanes == 1 || array->lanes == lanes, "operands of different devices");
    if (array->lanes != 1) lanes = array->lanes;
  }
  return lanes;
}

// Where lane `lane` begins, of `size` elements a lane.
template <typename Number>
std::int64_t begin_of(const Array<Number>& array, std::int64_t lane, std::int64_t size) {
  return array.lanes == 1 ? 0 : lane * size;
}

// Which lane a device holds, and where it begins.
template <typename Number>
std::int64_t lane_on(const Array<Number>& array, std::int64_t device) {
  if (array.lanes == 1) return 0;
  return array.holders ? (*array.holders)[static_cast<std::size_t>(device)] : device;
}
template <typename Number>
std::int64_t begin_on(const Array<Number>& array, std::int64_t device, std::int64_t size) {
  return lane_on(array, device) * size;
}

}  // namespace plumb::hlo
