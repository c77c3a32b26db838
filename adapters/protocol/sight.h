// What one process sees of the clock of another.
#pragma once

#include <cstdint>
#include <vector>

namespace plumb {

// A question and its answer: when it was sent and came back by the own clock, and what the other clock said
// meanwhile.
struct Ping {
  std::int64_t sent = 0, said = 0, back = 0;
};

// At `at` of the own clock the other was `offset` ahead, give or take `error`, in nanoseconds.
struct Sight {
  std::int64_t at = 0, offset = 0, error = 0;
};

// Of several the one that was under way for the shortest time. Law: however long the question was under way,
// and however long its answer, the true offset is no further from this than the error. Not of none.
Sight best_sight(const std::vector<Ping>&);

}  // namespace plumb
