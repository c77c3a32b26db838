#include "adapters/protocol/skim.h"

#include <algorithm>

#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"

namespace plumb {

namespace {

using nlohmann::json;

Sync sync_of(const std::string& text) {
  const auto sync = sync_named(text);
  if (!sync) throw Malformed("sync: none, barrier or window");
  return *sync;
}

// Depth 1 is the request, 2 the list of operands, 3 an operand, 4 its shape.
struct Reader {
  Skimmed found;
  int depth = 0;
  std::string outer, inner;  // the last key at depth 1 and 3

  bool in_operands() const { return outer == "operands"; }
  bool all_but_the_case() const {
    return (found.type == "run" || found.type == "bench") && !found.line.empty() &&
           (found.fills || !found.operands.empty()) && std::min({found.id, found.arena, found.free}) >= 0;
  }

  bool number(std::int64_t n) {
    if (depth == 1 && outer == "seconds") found.seconds = static_cast<double>(n);
    if (depth == 1 && outer == "run_seconds") found.run_seconds = static_cast<double>(n);
    if (depth == 1 && outer == "id") found.id = n;
    if (depth == 1 && outer == "seed") found.seed = static_cast<std::uint64_t>(n);
    if (depth == 1 && outer == "arena") found.arena = n;
    if (depth == 1 && outer == "warmups") found.timing.warmups = n;
    if (depth == 1 && outer == "iterations") found.timing.iterations = n;
    if (depth == 1 && outer == "bytes") found.bytes = n;
    if (depth == 1 && outer == "batch") found.timing.batch = n;
    if (depth == 1 && outer == "free") found.free = n;
    if (depth < 3 || !in_operands()) return true;
    Skimmed::Operand& operand = found.operands.back();
    if (depth == 3 && inner == "offset") operand.offset = n;
    if (depth == 3 && inner == "bytes") operand.bytes = n;
    if (depth == 4 && inner == "shape") operand.shape.push_back(n);
    return true;
  }

  bool null() { return true; }
  bool boolean(bool value) {
    if (depth == 1 && outer == "fills") found.fills = value;
    if (depth == 1 && outer == "first") found.first = value;
    return true;
  }
  bool number_integer(json::number_integer_t n) { return number(n); }
  bool number_unsigned(json::number_unsigned_t n) { return number(static_cast<std::int64_t>(n)); }
  bool number_float(json::number_float_t x, const std::string&) {
    if (depth == 1 && outer == "seconds") found.seconds = x;
    if (depth == 1 && outer == "run_seconds") found.run_seconds = x;
    return true;
  }
  bool binary(json::binary_t&) { return true; }
  bool string(std::string& text) {
    if (depth == 1 && outer == "type") found.type = text;
    if (depth == 1 && outer == "line") found.line = text;
    if (depth == 1 && outer == "what") found.what = text;
    if (depth == 1 && outer == "sync") found.timing.sync = sync_of(text);
    return true;
  }
  bool key(std::string& name) {
    if (depth == 1) outer = name;
    if (depth == 3) inner = name;
    return depth > 1 || name != "case" || !all_but_the_case();  // false ends the reading
  }
  bool start_object(std::size_t) {
    if (++depth == 3 && in_operands()) found.operands.emplace_back();
    return true;
  }
  bool start_array(std::size_t) {
    // A list where an operand should be has no key, so nothing in it is taken.
    if (++depth == 3 && in_operands()) found.operands.emplace_back(), inner.clear();
    return true;
  }
  bool end_object() { return --depth, true; }
  bool end_array() { return --depth, true; }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) { throw Malformed(e.what()); }
};

}  // namespace

Skimmed skim(std::string_view request) {
  Reader reader;
  json::sax_parse(request, &reader);
  return std::move(reader.found);
}

}  // namespace plumb
