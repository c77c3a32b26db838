// For tests: cases of every suite.
#pragma once

#include <functional>
#include <vector>

#include "harness/select/cases.h"
#include "harness/select/sample.h"
#include "harness/select/suite.h"

namespace plumb {

inline std::vector<Case> sampled(std::int64_t of_each, const std::function<bool(const Case&)>& may) {
  std::vector<Case> all;
  for (const Suite& suite : suites()) {
    const Cases cases = cases_of(suite_rows(suite.name));
    for (std::int64_t n : sample(count(cases), of_each, 1))
      if (Case c = nth(cases, n); may(c)) all.push_back(std::move(c));
  }
  return all;
}

}  // namespace plumb
