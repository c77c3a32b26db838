// A trial's answer, judged and explained.
#pragma once

#include "harness/diagnose/diagnose.h"
#include "harness/judge/testing/trial.h"

namespace plumb {

inline Verdict diagnosed(const Trial& trial) {
  const std::vector<Tensor> wholes{trial.whole};
  return diagnose({trial.c, trial.operands, wholes, trial.proof}, trial.outcome,
                  std::bind_front(&Trial::read, &trial), trial.declared);
}

}  // namespace plumb
