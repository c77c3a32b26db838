#include "harness/explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/bytes/bytes.h"
#include "reference/fill/fill.h"
#include "reference/meaning/resolve.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::string indented(const std::string& text) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) all += "  " + text.substr(at, end - at);
    all += '\n';
    at = end + 1;
  }
  return all;
}

std::string spec_section(const Case& c, std::string_view role, const Spec& spec) {
  if (spec.free)
    return fmt::format("\n{}: {}\n  laid out as the backend likes, and claims; its sums finished\n", role,
                       print(c.mesh, spec));
  return fmt::format("\n{}: {}\n{}{}", role, print(c.mesh, spec), indented(layout_in_words(c, spec)),
                     indented(draw(c, spec)));
}

std::string mesh_in_words(const Mesh& mesh) {
  std::string text = counted(devices(mesh), "device");
  text += mesh.place.empty() ? ", numbered row-major, " : ", numbered by ids, ";
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    text += fmt::format("{}{}={}", i ? "," : "", mesh.axes[i].name, mesh.axes[i].size);
  return text;
}

std::string explain_resolve(const Case& c) {
  std::string text =
      fmt::format("{}\n\nmesh: {}\nresolve: {}", print(c), mesh_in_words(c.mesh), resolution_in_words(c));
  const Resolved r = resolved(c);
  if (!r.spec) return text + fmt::format("\nno layout: {}\n", r.error);
  Case laid_out = c;
  laid_out.op.chain.back() = *r.spec;
  return text + spec_section(laid_out, "result", *r.spec);
}

std::string program_in_words(const Case& c) {
  if (c.sub.empty()) return "";
  std::string text = fmt::format("\nprogram: over {}, run by {}", print(program_mesh(c)),
                                 counted(std::ssize(slices(c)), "slice"));
  constexpr std::size_t shown = 4;
  for (std::size_t i = 0; i < slices(c).size() && i < shown; ++i)
    text += fmt::format("{} {}", i ? ";" : ":", fmt::join(slices(c)[i], ","));
  return text + (slices(c).size() > shown ? "; ..." : "");
}

// What makes a value of its parts: that of the first spec that is unfinished.
std::string_view joining(const Case& c) {
  for (const auto* specs : {&c.op.operands, &c.op.chain})
    for (const Spec& spec : *specs)
      if (!spec.unfinished.empty()) return spec.averaged.empty() ? name(spec.reduction) : "mean";
  return name(Reduce::sum);
}

std::string words_in_force(const Case& c) {
  return fmt::format("uneven splits {}, acc={} wire={} fill={} seed={}", name(c.rule), format(c.acc).name,
                     format(c.wire).name, name(c.fill), data_seed(c));
}

}  // namespace

std::vector<std::string> operand_roles(const Case& c) {
  if (std::holds_alternative<Einsum>(c.op.kind)) return {"lhs", "rhs"};
  if (is_quantize(c)) return {"values", "history", "scale"};
  if (const auto* grouped = std::get_if<Grouped>(&c.op.kind)) {
    if (grouped->form == Form::fwd) return {"x", "w"};
    if (grouped->form == Form::dgrad) return {"dy", "w"};
    return {"x", "dy"};
  }
  return {"before"};
}

std::string explain_case(const Case& c) {
  if (is_resolve(c)) return explain_resolve(c);
  std::string text = print(c) + '\n';
  text += fmt::format("\nmesh: {}{}\n{}: {}\nwords: {}\n", mesh_in_words(c.mesh), program_in_words(c),
                      name(c.op), meaning_in_words(c), words_in_force(c));
  const std::vector<std::string> names = operand_roles(c);
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) text += spec_section(c, names[i], c.op.operands[i]);
  for (std::size_t i = 0; i + results(c).size() < c.op.chain.size(); ++i)
    text += fmt::format("\non the way: {}\n", print(c.mesh, c.op.chain[i]));
  for (const Spec& spec : results(c)) text += spec_section(c, is_reshard(c) ? "after" : "result", spec);
  text += fmt::format("\nIn the pictures a=b are copies, a+b are parts whose {} is the value.\n", joining(c));
  text += fmt::format("\nwhy bits must be equal\n{}", indented(certificate(c).text));
  text += fmt::format("\nbytes\n{}", indented(derivation(c)));
  return text;
}

}  // namespace plumb
