// Proofs of the blocks that lie in this process, in its own memory or in a device's. The one place of an
// adapter's program that knows what is wanted.
#pragma once

#include <memory>

#include "adapters/protocol/device_memory.h"
#include "adapters/protocol/outcome.h"
#include "adapters/protocol/proofs.h"

namespace plumb {

struct Awaited;

// A case whose blocks are to be proved.
struct Awaiting {
  Case c;
  const DeviceCheck* there = nullptr;
  struct Known;
  std::shared_ptr<const Known> known{};  // nothing: worked out when a block is there
};

// Of a case that is timed, whose blocks nobody asks for once they are proved. What those of a product add up
// to is worked out before they are there, where a device holds them, by a vector that is drawn here and that
// nobody is told: to prove one is then to read it. Of other cases the recipe is.
Awaiting awaiting(const Case&, const DeviceCheck* there);

// The vectors of a case that is made ready, and what its blocks add up to by them: for tests.
std::vector<Awaited> awaited_sums(const Awaiting&);

// One for each block of an outcome that stays in place, by `seed`; unsaid of those that lie elsewhere.
std::vector<ProofRow> proofs(const Awaiting&, const Outcome&, std::uint64_t seed);

}  // namespace plumb
