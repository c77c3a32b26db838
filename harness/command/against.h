// What a run of plumb bench says beside a record of before.
#pragma once

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/timings.h"

namespace plumb {

// Prints of each case what became of it.
void say_what_became(const std::vector<Timings>& now, const std::vector<Timings>& then, std::FILE* out);

// The same of backends of one run beside the first of them.
void say_what_turns_came_to(const std::vector<Timings>& now, std::FILE* out);

// "2 of 3 cases, the first mpi  on x=4: reshard f32[8]+x -> f32[8]"; empty where all were timed then.
std::string times_lacked(const std::vector<Timings>& now, const std::vector<Timings>& then);

// What a record says of where it was made: its environment, versions and places.
nlohmann::json made_where(const Record&, const nlohmann::json& environment);

// One line, where records of before were made elsewhere than those of now, by record_key(): what differs.
// Empty where nothing does.
std::string made_elsewhere(const std::vector<Record>& then, const std::map<std::string, nlohmann::json>& now);

}  // namespace plumb
