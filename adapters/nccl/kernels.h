// The kernels of cuda that a rank needs, launched by the driver alone.
#pragma once

#include "adapters/rank/hands.h"

namespace plumb::nccl {

// The card that this thread has: its memory, and kernels that pack, unpack and change formats there. Without
// kernels, for there was no nvcc or they are none for this card, that is done by this processor. Throws where
// they cannot be loaded for another reason.
const Hands& hands_on_card();

}  // namespace plumb::nccl
