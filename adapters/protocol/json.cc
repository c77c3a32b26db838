#include "adapters/protocol/json.h"

namespace plumb {

using nlohmann::json;

json parse_json(std::string_view text) { return json::parse(text, nullptr, /*allow_exceptions=*/false); }

std::string dump(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace plumb
