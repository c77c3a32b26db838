// What plumb compare --json prints of two records.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/compare/compare.h"

namespace plumb {

// {"changes","counts","environment","findings","kinds","table","times","versions"}
nlohmann::json as_json(const Compared&);

}  // namespace plumb
