#include "adapters/protocol/json.h"

#include <algorithm>

namespace plumb {

using nlohmann::json;

json parse_json(std::string_view text) { return json::parse(text, nullptr, /*allow_exceptions=*/false); }

bool begins_json(std::string_view text) try {
  return !json::parse(text).is_discarded();
} catch (const json::parse_error& error) {
  return error.byte > text.size();  // it is not well formed where it ends, and nowhere before
}

std::string dump(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string json_text(std::string_view text) {
  const auto plain = [](unsigned char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
  if (!std::ranges::all_of(text, plain)) return dump(text);
  std::string out;
  out.reserve(text.size() + 2);
  return out.append(1, '"').append(text).append(1, '"');
}

}  // namespace plumb
