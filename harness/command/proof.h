// What is said of a proof: in words, as JSON, in a record.
#pragma once

#include <optional>
#include <string>

#include "harness/record/record.h"
#include "reference/hlo/prove/where.h"

namespace plumb {

// What came of the module after one pass.
struct PassFound {
  std::string pass, finding;
};

struct ProofReport {
  std::string subject;  // "dumps: module_0001.jit_step"
  std::string module;
  std::string key;    // of both modules
  std::string again;  // the command that shows it again
  hlo::Proof proof;
  std::string pass;  // the first after which it is not proven
  std::vector<PassFound> passes;
  std::optional<hlo::Place> place;
  double seconds = 0;
  std::int64_t bytes = 0;  // of memory, as it was said beforehand
};

// Nobody's but these two modules': "prove 0123456789abcdef 0123456789abcdef".
std::string proof_key(const hlo::Module& before, const hlo::Module& after);

std::string in_words(const ProofReport&);
std::string json_text(const ProofReport&);
// pass, wrong or mistrusted: what is unsettled is counted as neither of the first two.
Record record_of(const ProofReport&);

}  // namespace plumb
