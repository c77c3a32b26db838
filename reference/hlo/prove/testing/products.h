// Sums of products, for tests.
#pragma once

#include <vector>

#include "reference/hlo/prove/pairs.h"

namespace plumb::hlo {

inline Twin dot(Pairs& pairs, const std::vector<Twin>& a, const std::vector<Twin>& b) {
  std::vector<Factor> left, right;
  for (const Twin& x : a) left.push_back(pairs.left(x));
  for (const Twin& x : b) right.push_back(pairs.right(x, std::ssize(b)));
  return pairs.dot(left.data(), right.data(), std::ssize(a));
}

}  // namespace plumb::hlo
