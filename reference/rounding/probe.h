// How an engine adds up products, seen from outside: by sums of two and three terms of very different size
// among zeros, as FPRev (arXiv 2411.00442) reveals orders of summation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/rounding/model.h"
#include "reference/words/tensor.h"

namespace plumb {

// A sum of kProbeTerms products, all zero but these: each a power of two or a few bits more, times 1.
struct FewTerms {
  struct Term {
    std::int64_t at = 0;
    double value = 0;
  };
  std::vector<Term> terms;
};
inline constexpr std::int64_t kProbeTerms = 64;

// Those whose terms the format holds. What each can show is in probe.cc.
std::vector<FewTerms> probes(DType);

// The same as the rows of a matrix [probes, kProbeTerms], to be multiplied by ones.
Tensor probe_rows(DType);

// The row of the model whose engine makes these sums, each rounded once more to `result`: the one that costs least
// of those that allow them all; nothing where none does. And what was seen.
struct Probed {
  std::optional<Engine> engine;
  std::string text;
};
Probed probed(const std::vector<FewTerms>&, DType result, const std::vector<double>& sums);

}  // namespace plumb
