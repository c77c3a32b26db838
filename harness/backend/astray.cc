#include "harness/backend/astray.h"

#include <sstream>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"

namespace plumb {

using nlohmann::json;

namespace {

// Many programs print JSON: one of ours has a type, and answers a request or is a hello.
bool is_message(const json& j) {
  const json* type = j.is_object() ? optional_field(j, "type") : nullptr;
  return type && type->is_string() && (j.contains("id") || *type == "hello");
}

}  // namespace

std::string astray(const Child& child, bool runs) {
  const std::string_view rest = child.unfinished();
  if (!rest.empty() && !(runs && parse_json(rest).is_discarded()))
    return "it has no newline at its end: " + beginning(rest);
  std::istringstream printed(child.last_words());
  for (std::string line; std::getline(printed, line);)
    if (is_message(parse_json(line)))
      return "it came on standard output or standard error, not on the descriptor PLUMB_REPLIES: " +
             beginning(line);
  return "";
}

}  // namespace plumb
