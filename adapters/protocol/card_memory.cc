#include "adapters/protocol/card_memory.h"

#include "reference/check/device/device_check.h"

namespace plumb {

const DeviceCheck* memory_of_card() { return &check_on_card(); }

}  // namespace plumb
