// JSON as text, parsed and written here: each further file that calls `parse` or `dump` compiles them again.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace plumb {

// The value, or a discarded one where the text is not JSON.
nlohmann::json parse_json(std::string_view text);

// Whether more text behind it may make it JSON, or none need.
bool begins_json(std::string_view text);

// JSON text of a value; bytes that are not UTF-8 become U+FFFD.
std::string dump(const nlohmann::json&);

// The same of a text.
std::string json_text(std::string_view);

// An object written member by member, its values JSON text or numbers.
struct Members {
  std::string text = "{";
  void add(std::string_view name, std::string_view value) {
    if (text.size() > 1) text += ',';
    text.append(1, '"').append(name).append("\":").append(value);
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void add(std::string_view name, T value) { add(name, fmt::to_string(value)); }
  std::string whole() && { return std::move(text) + "}"; }
};

}  // namespace plumb
