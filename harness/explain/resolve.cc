#include "reference/meaning/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/explain/explain.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// The axes of a rule that was given, all of which the mesh has.
std::int64_t pieces_of_rule(const Mesh& mesh, const AxisRule& rule) {
  std::int64_t n = 1;
  for (const std::string& axis : rule.axes) n *= std::ranges::find(mesh.axes, axis, &Axis::name)->size;
  return n;
}

std::string tried_in_words(const Case& c, const Tried& t) {
  const Resolve& op = std::get<Resolve>(c.op.kind);
  const std::string dim = fmt::format("dimension {} '{}'", t.dim, op.names[t.dim]);
  switch (t.what) {
    case Tried::given:
      if (op.rules[t.rule].axes.empty()) return dim + " stays whole";
      return dim + (pieces_of_rule(c.mesh, op.rules[t.rule]) > 1
                        ? " is split so"
                        : " is given this, of one device: it stays whole");
    case Tried::taken:
      return fmt::format("not for {}: {} is taken", dim, t.axis);
    case Tried::settled:
      return fmt::format("not for {}: it is settled", dim);
  }
  return {};
}

}  // namespace

std::string resolution_in_words(const Case& c) {
  const Resolve& op = std::get<Resolve>(c.op.kind);
  const Resolved r = resolved(c);
  std::string text = "rules are tried in their order; each axis is given once\n";
  for (const Tried& t : r.tried)
    text += fmt::format("  {:<32} {}\n", print(op.rules[t.rule]), tried_in_words(c, t));
  for (std::size_t d = 0; d < op.names.size(); ++d) {
    bool mentioned = op.names[d].empty();
    for (const AxisRule& rule : op.rules) mentioned |= rule.name == op.names[d];
    if (!mentioned)
      text += fmt::format("  no rule names dimension {} '{}': it stays whole\n", d, op.names[d]);
  }
  return text;
}

}  // namespace plumb
