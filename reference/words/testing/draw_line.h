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

}  // namespace plumb
