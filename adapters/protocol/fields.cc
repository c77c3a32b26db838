#include "adapters/protocol/fields.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace plumb {

using nlohmann::json;

namespace {

// Recursion that somebody else's nesting could drive would end at the end of the stack.
bool deeper_than(int levels, const json& j) {
  if (!j.is_structured()) return false;
  if (levels == 0) return true;
  for (const json& e : j)
    if (deeper_than(levels - 1, e)) return true;
  return false;
}

[[noreturn]] void expected(std::string_view what, std::string_view kind, const json& got) {
  const std::string shown = deeper_than(8, got) ? "something deeply nested" : dump(got);
  throw Malformed(fmt::format("{} is not {}: {}", what, kind, shown.size() > 60 ? beginning(shown) : shown));
}

// Why a line cannot be read.
std::string not_a_message(std::string_view line) {
  if (const std::size_t zero = line.find('\0'); zero != line.npos)
    return fmt::format("a byte 0 stands in the line, at byte {}: {}", zero, beginning(line));
  if (utf8(line) != line) return "not UTF-8: " + beginning(line);
  const std::size_t last = line.find_last_not_of(" \r");
  const bool amid = line.starts_with('{') && line[last] != '}';
  return "not JSON: " + beginning(line) +
         (amid ? "; a message is one line, and this one ends amid an object" : "");
}

}  // namespace

std::string beginning(std::string_view text) {
  constexpr std::size_t most = 60;
  return dump(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

// Which of two that stand in one object is meant nobody knows.
json parse_message(std::string_view line) {
  std::vector<std::set<std::string>> names;  // of the objects that are open
  std::string twice;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) names.emplace_back();
    if (event == json::parse_event_t::object_end) names.pop_back();
    if (event == json::parse_event_t::key)
      if (const std::string& name = value.get_ref<const std::string&>(); !names.back().insert(name).second)
        twice = name;
    return true;
  };
  json message = json::parse(line, watch, /*allow_exceptions=*/false);
  if (message.is_discarded()) throw Malformed(not_a_message(line));
  if (!twice.empty()) throw Malformed(fmt::format("field \"{}\" stands twice", twice));
  return message;
}

const json& field(const json& object, std::string_view name) {
  if (!object.is_object()) expected("the message", "an object", object);
  const auto at = object.find(name);
  if (at == object.end()) throw Malformed(fmt::format("field \"{}\" is missing", name));
  return *at;
}

const json* optional_field(const json& object, std::string_view name) {
  if (!object.is_object()) expected("the message", "an object", object);
  const auto at = object.find(name);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

namespace {

// The field of whatever it may be, where it is of the type asked for.
const json* of_type(const json& message, std::string_view name, bool (json::*is)() const noexcept) {
  const auto at = message.is_object() ? message.find(name) : message.end();
  return at != message.end() && ((*at).*is)() ? &*at : nullptr;
}

}  // namespace

std::string text_or(const json& message, std::string_view name, const std::string& otherwise) {
  const json* found = of_type(message, name, &json::is_string);
  return found ? found->get<std::string>() : otherwise;
}

std::int64_t integer_or(const json& message, std::string_view name, std::int64_t otherwise) {
  const json* found = of_type(message, name, &json::is_number_integer);
  return found ? found->get<std::int64_t>() : otherwise;
}

bool truth_or(const json& message, std::string_view name, bool otherwise) {
  const json* found = of_type(message, name, &json::is_boolean);
  return found ? found->get<bool>() : otherwise;
}

std::int64_t integer(const json& j, std::string_view what) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!j.is_number_integer() || (j.is_number_unsigned() && j.get<std::uint64_t>() > most))
    expected(what, "an integer", j);
  return j.get<std::int64_t>();
}

std::int64_t count(const json& j, std::string_view what) {
  const std::int64_t n = integer(j, what);
  if (n < 0) expected(what, "a count", j);
  return n;
}

double seconds(const json& j, std::string_view what) {
  if (!j.is_number() || !std::isfinite(j.get<double>()) || j.get<double>() < 0)
    expected(what, "a number of seconds", j);
  return j.get<double>();
}

bool truth(const json& j, std::string_view what) {
  if (!j.is_boolean()) expected(what, "true or false", j);
  return j.get<bool>();
}

const std::string& text(const json& j, std::string_view what) {
  if (!j.is_string()) expected(what, "a string", j);
  return j.get_ref<const std::string&>();
}

const json& object(const json& j, std::string_view what) {
  if (!j.is_object()) expected(what, "an object", j);
  return j;
}

const json& list(const json& j, std::string_view what) {
  if (!j.is_array()) expected(what, "a list", j);
  return j;
}

std::vector<std::int64_t> integers(const json& j, std::string_view what) {
  std::vector<std::int64_t> out;
  out.reserve(list(j, what).size());
  for (const json& e : j) out.push_back(integer(e, what));
  return out;
}

std::vector<std::string> texts(const json& j, std::string_view what) {
  std::vector<std::string> out;
  for (const json& e : list(j, what)) out.push_back(text(e, what));
  return out;
}

std::string utf8(std::string_view text) { return parse_json(dump(text)).get<std::string>(); }

}  // namespace plumb
