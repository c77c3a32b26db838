// Messages of the protocol as values. README.md is the page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "adapters/protocol/malformed.h"
#include "adapters/protocol/serve.h"
#include "adapters/protocol/table.h"
#include "adapters/protocol/trace.h"

namespace plumb {

inline constexpr std::int64_t protocol_version = 1;
inline constexpr int most_extensions = 9;  // of the deadline of a phase, by a message `alive`

// Of so many seconds of a phase those after which whoever watches ranks asks where they are.
inline double until_asked(double seconds) { return seconds < 4 ? seconds / 2 : seconds - 2; }

// Those after which a rank gives up by itself what it waits for, a little earlier, so that it can say so.
inline double until_given_up(double seconds) {
  const double asked = until_asked(seconds);
  return asked - (asked < 10 ? asked / 10 : 1);
}

// One line of JSON. Written as text: a case is sent far more often than it is looked into.
std::string json_text(const Mesh&);
std::string json_text(const Case&);

nlohmann::json to_json(const Mesh&);
Mesh mesh_from_json(const nlohmann::json&);  // throws Malformed
nlohmann::json to_json(const Case&);
Case case_from_json(const nlohmann::json&);  // law: case_from_json(to_json(c)) == c; throws Malformed

}  // namespace plumb
