// What becomes of a request: a job for it, its reply, or the verdict on the job.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "adapters/launch/relay.h"

namespace plumb::launch {

// A request failed, and with it the job.
struct Failure {
  nlohmann::json reply;
};

// The reply to a request, by a new job where there is none.
std::string answer(Relay&, const std::string& line);

// Throws Failure where something happened to the job after which it cannot answer.
void look_after(Relay&);

// The verdict on a request whose time is over: throws a Failure that says where all are.
[[noreturn]] void hangs(Relay&);

}  // namespace plumb::launch
