// Strict access to JSON that somebody else wrote. Every function throws Malformed, which says what was
// expected of which field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"

namespace plumb {

// A line of the protocol.
nlohmann::json parse_message(std::string_view line);

const nlohmann::json& field(const nlohmann::json& object, std::string_view name);

// The field, or null where it is absent or null.
const nlohmann::json* optional_field(const nlohmann::json& object, std::string_view name);

// Of a line that may be anything: its field of this name, or `otherwise` where there is none of that type.
std::string text_or(const nlohmann::json&, std::string_view name, const std::string& otherwise = "");
std::int64_t integer_or(const nlohmann::json&, std::string_view name, std::int64_t otherwise);
bool truth_or(const nlohmann::json&, std::string_view name, bool otherwise);

std::int64_t integer(const nlohmann::json&, std::string_view what);  // any int64
std::int64_t count(const nlohmann::json&, std::string_view what);    // not negative
double seconds(const nlohmann::json&, std::string_view what);        // finite, not negative
bool truth(const nlohmann::json&, std::string_view what);
const std::string& text(const nlohmann::json&, std::string_view what);
const nlohmann::json& object(const nlohmann::json&, std::string_view what);
const nlohmann::json& list(const nlohmann::json&, std::string_view what);
std::vector<std::int64_t> integers(const nlohmann::json&, std::string_view what);
std::vector<std::string> texts(const nlohmann::json&, std::string_view what);

// The beginning of a text as a JSON string shows it, for a message.
std::string beginning(std::string_view);

// The text as UTF-8: what is not becomes U+FFFD.
std::string utf8(std::string_view);

}  // namespace plumb
