// Proofs of the blocks that lie in this process, in its own memory or in a device's. The one place of an
// adapter's program that knows what is wanted.
#pragma once

#include <vector>

#include "adapters/protocol/device_memory.h"
#include "adapters/protocol/outcome.h"
#include "adapters/protocol/proofs.h"

namespace plumb {

// One for each block of an outcome that stays in place, by `seed`; unsaid of those that lie elsewhere.
std::vector<ProofRow> proofs(const Case&, const Outcome&, std::uint64_t seed,
                             const DeviceCheck* there = nullptr);

}  // namespace plumb
