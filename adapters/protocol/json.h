// JSON as text, parsed and written here: each further file that calls `parse` or `dump` compiles them again.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace plumb {

// The value, or a discarded one where the text is not JSON.
nlohmann::json parse_json(std::string_view text);

// JSON text of a value; bytes that are not UTF-8 become U+FFFD.
std::string dump(const nlohmann::json&);

// The same of a text.
std::string json_text(std::string_view);

}  // namespace plumb
