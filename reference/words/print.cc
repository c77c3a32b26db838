// From words to text: the inverse of parse.cc.
#include <fmt/format.h>

#include <algorithm>

#include "reference/words/resolve.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

void put_axes(std::string& text, const Mesh& mesh, const std::vector<AxisId>& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i > 0) text += '.';
    text += mesh.axes[axes[i]].name;
  }
}

// "+x.y", "+max(x)", "+avg(x.y)+z": axes that stand together share a word.
void put_parts(std::string& text, const Mesh& mesh, const Spec& spec) {
  const std::vector<AxisId>& axes = spec.unfinished;
  const auto averaged = [&](AxisId axis) { return std::ranges::count(spec.averaged, axis) > 0; };
  for (auto run = axes.begin(); run != axes.end();) {
    const bool avg = averaged(*run);
    const auto end = std::find_if(run, axes.end(), [&](AxisId axis) { return averaged(axis) != avg; });
    const bool plain = !avg && spec.reduction == Reduce::sum;
    text += '+';
    if (!plain) (text += avg ? "avg" : name(spec.reduction)) += '(';
    put_axes(text, mesh, {run, end});
    if (!plain) text += ')';
    run = end;
  }
}

void put(std::string& text, const Mesh& mesh, const Spec& spec) {
  text += format(spec.dtype).name;
  text += '[';
  for (std::size_t d = 0; d < spec.dims.size(); ++d) {
    if (d > 0) text += ',';
    text += fmt::format_int(spec.dims[d].size).c_str();
    if (!spec.dims[d].axes.empty()) text += '@';
    put_axes(text, mesh, spec.dims[d].axes);
  }
  text += ']';
  if (spec.free) text += '?';
  put_parts(text, mesh, spec);
  if (spec.scheme != Scheme::none) (text += '~') += name(spec.scheme);
}

void put_list(std::string& text, const std::vector<std::int64_t>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += ',';
    text += fmt::format_int(numbers[i]).c_str();
  }
}

void put_sizes(std::string& text, const std::vector<std::vector<std::int64_t>>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) put_list(text += i == 0 ? " sizes=" : "/", sizes[i]);
}

void put(std::string& text, const Mesh& mesh) {
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    if (a > 0) text += ',';
    text += mesh.axes[a].name;
    text += '=';
    text += fmt::format_int(mesh.axes[a].size).c_str();
  }
  if (mesh.place.empty()) return;
  text += " ids=";
  put_list(text, ids(mesh));
}

}  // namespace

std::string_view name(const Op& op) {
  constexpr std::string_view names[] = {"reshard", "einsum", "grouped", "resolve", "quantize"};
  return names[op.kind.index()];
}

std::string_view name(Fill fill) {
  constexpr std::string_view names[] = {"provenance", "cancel", "normal", "scaled"};
  return names[static_cast<int>(fill)];
}

std::string counted(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : noun.ends_with('h') ? "es" : "s");
}

std::string_view name(Rule rule) { return rule == Rule::flat ? "flat" : "nested"; }

std::string_view name(Reduce reduction) {
  constexpr std::string_view names[] = {"sum", "max", "min"};
  return names[static_cast<int>(reduction)];
}

std::string_view name(Form form) {
  constexpr std::string_view names[] = {"fwd", "dgrad", "wgrad"};
  return names[static_cast<int>(form)];
}

std::string_view name(Scheme scheme) {
  constexpr std::string_view names[] = {"none", "fp8", "fp8e5", "mxfp8", "mxfp8e5"};
  return names[static_cast<int>(scheme)];
}

std::string print(const Mesh& mesh) {
  std::string text;
  put(text, mesh);
  return text;
}

std::string print(const Mesh& mesh, const Spec& spec) {
  std::string text;
  put(text, mesh, spec);
  return text;
}

std::string print(const Slice& slice) {
  std::string text = "[";
  for (std::size_t d = 0; d < slice.size(); ++d)
    text += fmt::format("{}{}:{}", d > 0 ? "," : "", slice[d].begin, slice[d].end);
  return text + "]";
}

std::string coordinates_text(const Mesh& mesh, std::int64_t device) {
  std::string text;
  const std::vector<std::int64_t> at = coordinates(mesh, device);
  for (std::size_t a = 0; a < at.size(); ++a)
    text += fmt::format("{}{}={}", a > 0 ? "," : "", mesh.axes[a].name, at[a]);
  return text;
}

std::string print(const Case& c) {
  std::string text = "on ";
  if (!c.sub.empty()) put(text, program_mesh(c)), text += " of ";
  put(text, c.mesh);
  text += ": ";
  text += name(c.op);
  if (is_resolve(c)) {
    put_resolve(text, c.op);
    return text;
  }
  if (const auto* einsum = std::get_if<Einsum>(&c.op.kind))
    text += " " + einsum->lhs + "," + einsum->rhs + "->" + einsum->out;
  const auto* grouped = std::get_if<Grouped>(&c.op.kind);
  const auto* quantize = std::get_if<Quantize>(&c.op.kind);
  if (grouped) (text += ' ') += name(grouped->form);
  if (quantize) (text += ' ') += name(quantize->scheme);
  for (const Spec& spec : c.op.operands) put(text += ' ', c.mesh, spec);
  if (grouped) put_sizes(text, grouped->sizes);
  if (quantize) put_sizes(text, quantize->sizes);
  for (std::size_t i = 0; i < c.op.chain.size(); ++i)
    put(text += quantize && i > 0 ? " " : " -> ", c.mesh, c.op.chain[i]);
  if (c.rule == Rule::nested) text += " nested";
  if (c.acc != default_acc(c.op)) (text += " acc=") += format(c.acc).name;
  if (c.wire != default_wire(c.op)) (text += " wire=") += format(c.wire).name;
  if (c.fill != default_fill(c.op)) (text += " fill=") += name(c.fill);
  if (c.seed) (text += " seed=") += fmt::format_int(*c.seed).c_str();
  return text;
}

std::string dotted(const std::vector<std::string>& names) { return fmt::to_string(fmt::join(names, ".")); }

std::string dotted(const Mesh& mesh, const std::vector<AxisId>& axes) {
  std::string text;
  put_axes(text, mesh, axes);
  return text;
}

std::string print(const AxisRule& rule) {
  const std::string axes = dotted(rule.axes);
  switch (rule.value) {
    case Value::none:
      return rule.name + ":-";
    case Value::name:
      return rule.name + ":" + axes;
    case Value::tuple:
      return rule.name + ":(" + axes + ")";
    case Value::list:
      return rule.name + ":[" + axes + "]";
  }
  return {};
}

}  // namespace plumb
