#include "adapters/protocol/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

using Into = std::back_insert_iterator<fmt::memory_buffer>;

// Names of axes and words of the grammar hold nothing that JSON escapes.
void put_axes(Into out, const Mesh& mesh, const std::vector<AxisId>& axes) {
  fmt::format_to(out, "[");
  for (std::size_t i = 0; i < axes.size(); ++i)
    fmt::format_to(out, "{}\"{}\"", i ? "," : "", mesh.axes[axes[i]].name);
  fmt::format_to(out, "]");
}

void put_spec(Into out, const Mesh& mesh, const Spec& spec) {
  fmt::format_to(out, R"({{"dtype":"{}","shape":[{}],"split":[)", format(spec.dtype).name,
                 fmt::join(shape(spec), ","));
  for (std::size_t d = 0; d < spec.dims.size(); ++d) {
    if (d) fmt::format_to(out, ",");
    put_axes(out, mesh, spec.dims[d].axes);
  }
  fmt::format_to(out, R"(],"unfinished":)");
  put_axes(out, mesh, spec.unfinished);
  if (spec.free) fmt::format_to(out, R"(,"free":true)");
  if (spec.reduction != Reduce::sum) fmt::format_to(out, R"(,"reduction":"{}")", name(spec.reduction));
  if (!spec.averaged.empty()) {
    fmt::format_to(out, R"(,"averaged":)");
    put_axes(out, mesh, spec.averaged);
  }
  if (spec.scheme != Scheme::none) fmt::format_to(out, R"(,"scheme":"{}")", name(spec.scheme));
  fmt::format_to(out, R"(,"text":"{}"}})", print(mesh, spec));
}

void put_specs(Into out, const Mesh& mesh, const std::vector<Spec>& specs) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (i) fmt::format_to(out, ",");
    put_spec(out, mesh, specs[i]);
  }
}

void put_mesh(Into out, const Mesh& mesh) {
  fmt::format_to(out, R"({{"axes":[)");
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    fmt::format_to(out, R"({}["{}",{}])", i ? "," : "", mesh.axes[i].name, mesh.axes[i].size);
  fmt::format_to(out, "]");
  if (!mesh.place.empty()) fmt::format_to(out, R"(,"ids":[{}])", fmt::join(ids(mesh), ","));
  fmt::format_to(out, "}}");
}

void put_kind(Into out, const Reshard&) { fmt::format_to(out, R"("op":"reshard")"); }
void put_kind(Into out, const Einsum& e) {
  fmt::format_to(out, R"("op":"einsum","lhs":"{}","rhs":"{}","out":"{}")", e.lhs, e.rhs, e.out);
}
void put_sizes(Into out, const std::vector<std::vector<std::int64_t>>& sizes) {
  fmt::format_to(out, R"(,"sizes":[)");
  for (std::size_t i = 0; i < sizes.size(); ++i)
    fmt::format_to(out, "{}[{}]", i ? "," : "", fmt::join(sizes[i], ","));
  fmt::format_to(out, "]");
}
void put_kind(Into out, const Grouped& g) {
  fmt::format_to(out, R"("op":"grouped","form":"{}")", name(g.form));
  put_sizes(out, g.sizes);
}
void put_kind(Into out, const Quantize& q) {
  fmt::format_to(out, R"("op":"quantize","scheme":"{}")", name(q.scheme));
  if (!q.sizes.empty()) put_sizes(out, q.sizes);
}

constexpr std::string_view value_types[] = {"none", "name", "tuple", "list"};

template <class List>
void put_texts(Into out, const List& list) {
  fmt::format_to(out, "[");
  for (std::size_t i = 0; i < list.size(); ++i) fmt::format_to(out, "{}\"{}\"", i ? "," : "", list[i]);
  fmt::format_to(out, "]");
}

void put_kind(Into out, const Resolve& r) {
  fmt::format_to(out, R"("op":"resolve","policy":"first","names":[)");
  for (std::size_t d = 0; d < r.names.size(); ++d)
    fmt::format_to(out, "{}{}", d ? "," : "", r.names[d].empty() ? "null" : "\"" + r.names[d] + "\"");
  fmt::format_to(out, R"(],"rules":[)");
  for (std::size_t i = 0; i < r.rules.size(); ++i) {
    fmt::format_to(out, R"({}{{"name":"{}","value":"{}","axes":)", i ? "," : "", r.rules[i].name,
                   value_types[static_cast<int>(r.rules[i].value)]);
    put_texts(out, r.rules[i].axes);
    fmt::format_to(out, "}}");
  }
  fmt::format_to(out, "]");
}

std::vector<AxisId> axes_named(const Mesh& mesh, const json& list, std::string_view what) {
  std::vector<AxisId> out;
  for (const std::string& name : texts(list, what)) {
    const auto at = std::find_if(mesh.axes.begin(), mesh.axes.end(), [&](auto& a) { return a.name == name; });
    if (at == mesh.axes.end()) throw Malformed(fmt::format("{}: the mesh has no axis \"{}\"", what, name));
    out.push_back(static_cast<AxisId>(at - mesh.axes.begin()));
  }
  return out;
}

DType dtype_from(const json& j, std::string_view what) {
  const auto dtype = dtype_named(text(j, what));
  if (!dtype) throw Malformed(fmt::format("{}: no dtype \"{}\"", what, text(j, what)));
  return *dtype;
}

// The value of an enum whose name() is `wanted`.
template <class Enum>
Enum named(std::initializer_list<Enum> values, const json& wanted, std::string_view what) {
  for (Enum v : values)
    if (name(v) == text(wanted, what)) return v;
  throw Malformed(fmt::format("{}: unknown word \"{}\"", what, text(wanted, what)));
}

constexpr std::initializer_list<Scheme> kSchemes = {Scheme::fp8, Scheme::fp8e5, Scheme::mxfp8,
                                                    Scheme::mxfp8e5};

std::vector<std::vector<std::int64_t>> sizes_from(const json& lists) {
  std::vector<std::vector<std::int64_t>> all;
  for (const json& sizes : list(lists, "sizes")) all.push_back(integers(sizes, "sizes"));
  return all;
}

Spec spec_from(const Mesh& mesh, const json& j) {
  Spec spec{.dtype = dtype_from(field(j, "dtype"), "dtype"), .dims = {}, .unfinished = {}};
  const json& split = list(field(j, "split"), "split");
  for (std::int64_t size : integers(field(j, "shape"), "shape")) {
    if (spec.dims.size() == split.size()) throw Malformed("shape and split differ in length");
    spec.dims.push_back({size, axes_named(mesh, split[spec.dims.size()], "split")});
  }
  if (spec.dims.size() != split.size()) throw Malformed("shape and split differ in length");
  spec.unfinished = axes_named(mesh, field(j, "unfinished"), "unfinished");
  if (const json* free = optional_field(j, "free")) spec.free = truth(*free, "free");
  if (const json* reduction = optional_field(j, "reduction"))
    spec.reduction = named({Reduce::sum, Reduce::max, Reduce::min}, *reduction, "reduction");
  if (const json* averaged = optional_field(j, "averaged"))
    spec.averaged = axes_named(mesh, *averaged, "averaged");
  if (const json* scheme = optional_field(j, "scheme")) spec.scheme = named(kSchemes, *scheme, "scheme");
  return spec;
}

AxisRule rule_from(const json& j) {
  AxisRule rule{text(field(j, "name"), "name"), Value::none, texts(field(j, "axes"), "axes")};
  const auto at = std::ranges::find(value_types, text(field(j, "value"), "value"));
  if (at == std::end(value_types)) throw Malformed("value: none, name, tuple or list");
  rule.value = static_cast<Value>(at - std::begin(value_types));
  const std::size_t n = rule.axes.size();
  if ((rule.value == Value::none && n != 0) || (rule.value == Value::name && n != 1))
    throw Malformed("a rule's axes are not as many as its value says");
  return rule;
}

Resolve resolve_from(const json& j) {
  if (text(field(j, "policy"), "policy") != "first") throw Malformed("policy: there is only first");
  Resolve r;
  for (const json& name : list(field(j, "names"), "names"))
    r.names.push_back(name.is_null() ? "" : text(name, "a name"));
  for (const json& rule : list(field(j, "rules"), "rules")) r.rules.push_back(rule_from(rule));
  return r;
}

decltype(Op::kind) kind_from(const json& j) {
  const std::string& op = text(field(j, "op"), "op");
  if (op == "resolve") return resolve_from(j);
  if (op == "reshard") return Reshard{};
  if (op == "einsum")
    return Einsum{text(field(j, "lhs"), "lhs"), text(field(j, "rhs"), "rhs"), text(field(j, "out"), "out")};
  if (op == "quantize") {
    const json* sizes = optional_field(j, "sizes");
    return Quantize{named(kSchemes, field(j, "scheme"), "scheme"),
                    sizes ? sizes_from(*sizes) : std::vector<std::vector<std::int64_t>>{}};
  }
  if (op != "grouped") throw Malformed(fmt::format("unknown op \"{}\"", op));
  return Grouped{named({Form::fwd, Form::dgrad, Form::wgrad}, field(j, "form"), "form"),
                 sizes_from(field(j, "sizes"))};
}

}  // namespace

std::string json_text(const Mesh& mesh) {
  fmt::memory_buffer text;
  put_mesh(Into(text), mesh);
  return fmt::to_string(text);
}

std::string json_text(const Case& c) {
  fmt::memory_buffer text;
  const Into out(text);
  fmt::format_to(out, R"({{"mesh":)");
  put_mesh(out, program_mesh(c));
  if (!c.sub.empty()) {
    fmt::format_to(out, R"(,"parent":)");
    put_mesh(out, c.mesh);
  }
  fmt::format_to(out, ",");
  std::visit([&](const auto& kind) { put_kind(out, kind); }, c.op.kind);
  fmt::format_to(out, R"(,"operands":[)");
  put_specs(out, c.mesh, c.op.operands);
  fmt::format_to(out, R"(],"chain":[)");
  put_specs(out, c.mesh, c.op.chain);
  fmt::format_to(out, R"(],"rule":"{}","acc":"{}","wire":"{}","fill":"{}","seed":{}}})", name(c.rule),
                 format(c.acc).name, format(c.wire).name, name(c.fill), data_seed(c));
  return fmt::to_string(text);
}

json to_json(const Mesh& mesh) { return parse_json(json_text(mesh)); }
json to_json(const Case& c) { return parse_json(json_text(c)); }

Mesh mesh_from_json(const json& j) {
  Mesh mesh;
  for (const json& axis : list(field(j, "axes"), "axes")) {
    if (list(axis, "an axis").size() != 2) throw Malformed("an axis is not [name, size]");
    mesh.axes.push_back({text(axis[0], "the name of an axis"), integer(axis[1], "the size of an axis")});
  }
  if (const json* ids = optional_field(j, "ids")) {
    const auto device = integers(*ids, "ids");
    mesh.place.assign(device.size(), -1);
    for (std::size_t p = 0; p < device.size(); ++p) {
      if (device[p] < 0 || device[p] >= std::ssize(device) || mesh.place[device[p]] != -1)
        throw Malformed("ids are not a permutation");
      mesh.place[device[p]] = static_cast<std::int64_t>(p);
    }
  }
  return mesh;
}

Case case_from_json(const json& j) {
  Case c;
  c.mesh = mesh_from_json(field(j, "mesh"));
  if (const json* parent = optional_field(j, "parent")) {
    const Mesh program = std::exchange(c.mesh, mesh_from_json(*parent));
    for (const Axis& axis : program.axes) {
      const auto same = std::ranges::find(c.mesh.axes, axis);
      if (same == c.mesh.axes.end())
        throw Malformed(fmt::format("parent: no axis \"{}\" of {}", axis.name, axis.size));
      c.sub.push_back(static_cast<AxisId>(same - c.mesh.axes.begin()));
    }
  }
  c.op.kind = kind_from(j);
  for (const json& s : list(field(j, "operands"), "operands")) c.op.operands.push_back(spec_from(c.mesh, s));
  for (const json& s : list(field(j, "chain"), "chain")) c.op.chain.push_back(spec_from(c.mesh, s));
  c.rule = named({Rule::flat, Rule::nested}, field(j, "rule"), "rule");
  c.acc = dtype_from(field(j, "acc"), "acc");
  c.wire = dtype_from(field(j, "wire"), "wire");
  c.fill = named({Fill::provenance, Fill::cancel, Fill::normal, Fill::scaled}, field(j, "fill"), "fill");
  if (!field(j, "seed").is_number_unsigned()) throw Malformed("seed is not an integer from 0 to 2^64-1");
  c.seed = j["seed"].get<std::uint64_t>();
  return c;
}

}  // namespace plumb
