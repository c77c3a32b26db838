// A result held against itself and against the case that it answers.
#pragma once

#include <vector>

#include "adapters/protocol/timing.h"
#include "harness/backend/answer.h"
#include "harness/backend/capabilities.h"
#include "harness/backend/wall.h"

namespace plumb {

// What was asked: the reply may use the arena from `free` on.
struct Asked {
  const Case& c;
  std::int64_t id = 0;
  std::uint64_t free = 0;
  const Capabilities& capabilities;
  bool in_place = false;        // blocks stay where they lie: only how long they are is asked
  std::int64_t iterations = 0;             // that were to be timed,
  std::vector<Clocked>* clocks = nullptr;  // and where their clocks go
  bool agreed = true;                      // they may begin at agreed times, to which a rank may come late
  std::int64_t sent = 0;                   // when, by the harness's own clock
  Rates rates{};                           // of clocks that ranks compared before
};

// All throw Malformed.
// One block for each device and result, inside the arena, as long as its claim, none over another.
// Blocks without a claim may have any length: the judge knows what they should be.
void check_blocks(const std::vector<Block>&, const Asked&, std::uint64_t arena_bytes);
// Who takes part is somebody, exists and stands there once; pairs are of permutes and sends, and a permute
// has some; what was received is the sum of what was moved, or no less where some collective does not say
// what it moved.
void check_trace(const Outcome&, const Mesh&);
// Each rank left every iteration no earlier than it entered it, and entered it no earlier than it left the
// one before; what was late is late by both, to a time that was `agreed`.
void check_clocks(const std::vector<Clocked>&, bool agreed);

}  // namespace plumb
