// Messages of the protocol as values, and the table of blocks. README.md is the page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>

#include "adapters/protocol/outcome.h"
#include "adapters/protocol/serve.h"

namespace plumb {

// A reply that is not on the page: what() says what was wrong with it.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr std::int64_t protocol_version = 1;

// One line of JSON. Written as text: a case is sent far more often than it is looked into.
std::string json_text(const Mesh&);
std::string json_text(const Case&);
std::string json_text(const Collective&);

nlohmann::json to_json(const Mesh&);
Mesh mesh_from_json(const nlohmann::json&);  // throws Malformed
nlohmann::json to_json(const Case&);
Case case_from_json(const nlohmann::json&);  // law: case_from_json(to_json(c)) == c; throws Malformed

nlohmann::json to_json(const Collective&);
Collective collective_from_json(const nlohmann::json&);  // throws Malformed

// The table of blocks as its int64 words, and back. parse throws Malformed on a table that ends early
// or has rows left over.
std::vector<std::int64_t> table(const std::vector<Block>&);
std::vector<Block> parse_table(std::span<const std::int64_t> words, std::int64_t rows);

}  // namespace plumb
