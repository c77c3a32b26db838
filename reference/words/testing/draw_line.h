// For tests: cases drawn to be run, of every kind that the grammar has but the resolve, small enough that
// thousands take seconds.
#pragma once

#include <cmath>

#include "reference/words/testing/draw_case.h"

namespace plumb {

// What the data and the arithmetic of a case come to: elements held by all devices, and products.
inline double work_of(const Case& c) {
  double work = 0, product = 1;
  for (const std::vector<Spec>* specs : {&c.op.operands, &c.op.chain})
    for (const Spec& spec : *specs)
      work += static_cast<double>(elements(spec)) * static_cast<double>(devices(c.mesh));
  if (c.op.operands.size() == 2)
    for (const Spec* spec : {&c.op.operands[0], &c.op.operands[1], &c.op.chain[0]})
      product *= static_cast<double>(elements(*spec)) * static_cast<double>(parts(c.mesh, *spec));
  return work + std::sqrt(product);
}

// Most are small, of uneven sizes and on a few devices; some have long dimensions, some long axes.
inline Case draw_to_run(Random& random) {
  const std::int64_t kind = random.below(10);
  random.moved = {1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 40, 3, 8, 5, 7, 0};
  random.letters = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 1, 2, 4, 6, 8, 3, 5, 7, 4, 2, 6, 8, 12, 0};
  random.quantized = {1, 3, 16, 31, 32, 40, 80, 5, 8, 33, 64, 0};
  random.axes = 3, random.longest_axis = 3;
  double most_work = 1 << 14;
  if (kind == 0)
    random.letters = {1, 2, 4, 8, 24, 64, 300}, random.moved = {1, 2, 64, 300}, most_work = 1 << 17;
  if (kind == 1) random.axes = 2, random.longest_axis = 9;
  for (;;)
    if (Case c = draw_case(random); !is_resolve(c) && work_of(c) <= most_work) return c;
}

// What draw_to_run() leaves out: more than 27 devices, groups of any sizes, narrow floats of a few elements.
inline Case draw_wide(Random& from) {
  Random random{from.bits};
  random.axes = 3;
  random.letters = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 17}, random.quantized = {1, 3, 16, 31, 32, 40, 65};
  random.moved = {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 33};
  random.narrow = random.one_in(2), random.any_sizes = true, random.groups = 8;
  double most_work = 1 << 14;
  std::int64_t most_devices = 16;
  switch (random.below(3)) {
    case 0:  // many devices
      random.along = {2, 3, 4, 5, 7, 8, 9, 16, 17, 24, 32, 33, 64, 81, 128}, most_work = 1 << 16,
      most_devices = 160;
      break;
    case 1:  // many rows
      random.letters.insert(random.letters.end(), {16, 24, 30, 40}), random.longest_axis = 4;
      break;
    default:
      random.narrow = true, random.letters = {1, 2, 3, 4, 5, 7, 9, 10},
      random.moved = {1, 2, 3, 5, 9, 16, 17};
  }
  for (;;) {
    Case c = draw_case(random);
    if (is_resolve(c) || devices(c.mesh) > most_devices || work_of(c) > most_work) continue;
    from.bits = random.bits;
    return c;
  }
}

}  // namespace plumb
