// Collectives as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "adapters/protocol/outcome.h"

namespace plumb {

// Written as text, as messages are (message.h).
std::string json_text(const Collective&);

nlohmann::json to_json(const Collective&);
Collective collective_from_json(const nlohmann::json&);  // throws Malformed

}  // namespace plumb
