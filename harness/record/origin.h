// Where records come from: what a run writes before its first record and after its last.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace plumb {

// A run by its own words. JSON, first line:
// {"backends","cases","environment","run","schema","selection","started"}; last line:
// {"ended","run","unrun"}, and "afterwards", a list of texts, where a program wrote something once its
// requests had ended, or did not end well. A run that was killed has no last line.
struct Origin {
  std::string run;                                      // of no other run
  std::string started;                                  // UTC, "2026-01-31T02:03:04Z"
  nlohmann::json selection = nlohmann::json::object();  // flags and what they were given
  std::vector<std::string> backends;                    // resolved
  std::int64_t cases = 0;                               // selected, of each backend
  nlohmann::json environment = nlohmann::json::object();
  std::optional<std::int64_t> unrun{};    // at its end: cases that it did not come to
  std::vector<std::string> afterwards{};  // what programs did after their last request
};

std::string now_utc();
std::string run_drawn(const std::string& started);  // "2026-01-31T02:03:04Z-5f3a09c2"

std::string first_line(const Origin&);
std::string last_line(const Origin&);  // of one that has ended

// Whether a line of a record file says where records come from; if so it is taken to the runs. Throws
// Malformed.
bool take_origin(const nlohmann::json& line, std::vector<Origin>& runs);

}  // namespace plumb
