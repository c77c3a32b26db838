// The memory of the card that this thread has, by its driver.
#pragma once

#include "adapters/rank/hands.h"

namespace plumb::card {

// Formats are changed here: elements are brought, changed and put back. A driver is there, and a card was
// taken.
const Hands& card_hands();

}  // namespace plumb::card
