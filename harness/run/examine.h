// What came of a case, judged: no process is touched here.
#pragma once

#include "adapters/protocol/proofs.h"
#include "harness/backend/answer.h"
#include "harness/backend/capabilities.h"
#include "harness/judge/wanted.h"
#include "harness/record/record.h"

namespace plumb {

// A case on one backend, and what came of it.
struct Attempt {
  Case c;
  std::vector<Tensor> operands;  // none where it was refused before it was asked, nor of a rerun
  Answer answer;
  Read read;                     // of an outcome's blocks
  std::vector<Proven> proofs{};  // of blocks that were proved where they lie; else none
  double fill_seconds = 0, ask_seconds = 0;
  bool refuted = false;  // a block was, where it lay, and they travelled
};

// Where more than one is wanted, what a backend kept of the first is no answer to the one on other data;
// those that follow are on the first data again.
struct Attempts {
  Attempt first;
  std::optional<Attempt> other;
  std::vector<Attempt> again;
};

Declared declared(const Capabilities&);

// What is said of one that hung, ended or was on no page; empty of any other.
std::string no_result_in_words(const Answer&);

// The whole result of an outcome that has one, as the last block that holds an element has it.
Tensor whole_result(const Attempt&);

// A digest of an outcome's bits, but of rows that the backend leaves undefined: reruns have equal ones.
std::uint64_t digest_of_attempt(const Attempt&, const Declared&);

// What is wrong of an attempt on other data is wrong of the case.
void add_other(Record&, const Attempt&, const Declared&);

// All of a record but the backend's names and versions. Whatever the answers are, no outcome among them
// included: this is the one place where such an answer becomes a verdict.
Record examine(const Attempts&, const Declared&, const Limits&);

}  // namespace plumb
