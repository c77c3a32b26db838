#include "reference/words/resolve.h"

#include <fmt/format.h>

#include "reference/words/legal.h"

namespace plumb {
namespace {

std::string scan_dim_name(Scan& scan) {
  if (!scan.take("'")) scan.fail("expected ' and the name of the dimension, or '- for one without");
  if (scan.take("-")) return "";
  return std::string(scan.name("the name of a dimension, or -"));
}

Spec scan_named(Scan& scan, std::vector<std::string>& names) {
  const std::size_t at = scan.at;
  const auto dtype = dtype_named(scan.name("a dtype"));
  if (!dtype) scan.fail("expected a dtype", at);
  Spec spec{.dtype = *dtype, .dims = {}, .unfinished = {}};
  scan.expect("[");
  __int128 size = format(*dtype).bytes;
  if (!scan.next_is("]")) do {
      const std::int64_t n = scan.number("the size of a dimension");
      if (n > 0) size *= n;
      if (size > most_bytes) scan.fail("this array would hold more than 2^62 bytes", at);
      spec.dims.push_back({n, {}});
      names.push_back(scan_dim_name(scan));
    } while (scan.take(","));
  if (!scan.take("]")) scan.fail("expected ',' or ']'");
  return spec;
}

// What stands between the brackets of a tuple or a list.
std::vector<std::string> scan_several(Scan& scan, std::string_view end) {
  std::vector<std::string> axes;
  if (scan.take(end)) return axes;
  do axes.emplace_back(scan.name("the name of a mesh axis"));
  while (scan.take("."));
  if (!scan.take(end)) scan.fail(fmt::format("expected '.' or '{}'", end));
  return axes;
}

AxisRule scan_rule(Scan& scan) {
  AxisRule rule{std::string(scan.name("the name of a dimension")), Value::none, {}};
  scan.expect(":");
  if (scan.take("-")) return rule;
  if (scan.take("("))
    rule.value = Value::tuple, rule.axes = scan_several(scan, ")");
  else if (scan.take("["))
    rule.value = Value::list, rule.axes = scan_several(scan, "]");
  else
    rule.value = Value::name, rule.axes = {std::string(scan.name("a mesh axis, (AXES), [AXES] or -"))};
  return rule;
}

}  // namespace

Op scan_resolve(Scan& scan) {
  const std::size_t policy_at = scan.at;
  if (scan.name("a policy: first") != "first") scan.fail("expected a policy: first", policy_at);
  scan.gap();
  Resolve resolve;
  Spec spec = scan_named(scan, resolve.names);
  scan.gap();
  scan.expect("rules=");
  if (!scan.done() && !scan.next_is(" ")) do
      resolve.rules.push_back(scan_rule(scan));
    while (scan.take(","));
  scan.gap();
  if (!scan.done()) scan.fail("nothing follows the rules: the policy gives the answer");
  return {std::move(resolve), {}, {std::move(spec)}};
}

void put_resolve(std::string& text, const Op& op) {
  const Resolve& resolve = std::get<Resolve>(op.kind);
  const Spec& spec = op.chain.front();
  fmt::format_to(std::back_inserter(text), " first {}[", format(spec.dtype).name);
  for (std::size_t d = 0; d < spec.dims.size(); ++d)
    fmt::format_to(std::back_inserter(text), "{}{}'{}", d > 0 ? "," : "", spec.dims[d].size,
                   resolve.names[d].empty() ? "-" : resolve.names[d]);
  text += "] rules=";
  for (std::size_t r = 0; r < resolve.rules.size(); ++r)
    (text += r > 0 ? "," : "") += print(resolve.rules[r]);
}

}  // namespace plumb
