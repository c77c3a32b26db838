// A reply, checked against the protocol's page and against the case it answers.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/backend/answer.h"
#include "harness/backend/arena_file.h"
#include "harness/backend/contradictions.h"

namespace plumb {

// A message of type result, unsupported, reneged, crashed or hung (without phase and last words) or, of a
// resolve, refused. Throws Malformed, which says what is wrong.
Answer parse_reply(const nlohmann::json& message, const Asked&, const ArenaFile&);

// In the place of a hello: the processes that the program started hang, or one of them died.
std::optional<Answer> parse_failed_start(const nlohmann::json& message);

// The clocks of the ranks that timed so many iterations, a row for each in the arena. Throws Malformed.
std::vector<Clocked> parse_clocks(const nlohmann::json& clock, const Asked&, const ArenaFile&);

}  // namespace plumb
