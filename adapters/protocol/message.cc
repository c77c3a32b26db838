#include "adapters/protocol/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "adapters/protocol/fields.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

std::vector<std::string> names(const Mesh& mesh, const std::vector<AxisId>& axes) {
  std::vector<std::string> out;
  for (AxisId a : axes) out.push_back(mesh.axes[a].name);
  return out;
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

json spec_json(const Mesh& mesh, const Spec& spec) {
  json split = json::array();
  for (const Dim& d : spec.dims) split.push_back(names(mesh, d.axes));
  return {{"dtype", format(spec.dtype).name},
          {"shape", shape(spec)},
          {"split", std::move(split)},
          {"unfinished", names(mesh, spec.unfinished)},
          {"text", print(mesh, spec)}};
}

DType dtype_from(const json& j, std::string_view what) {
  const auto dtype = dtype_named(text(j, what));
  if (!dtype) throw Malformed(fmt::format("{}: no dtype \"{}\"", what, text(j, what)));
  return *dtype;
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
  return spec;
}

// The value of an enum whose name() is `wanted`.
template <class Enum>
Enum named(std::initializer_list<Enum> values, const json& wanted, std::string_view what) {
  for (Enum v : values)
    if (name(v) == text(wanted, what)) return v;
  throw Malformed(fmt::format("{}: unknown word \"{}\"", what, text(wanted, what)));
}

void put(json& j, const Reshard&) { j["op"] = "reshard"; }
void put(json& j, const Einsum& e) {
  j["op"] = "einsum";
  j["lhs"] = e.lhs;
  j["rhs"] = e.rhs;
  j["out"] = e.out;
}
void put(json& j, const Grouped& g) {
  j["op"] = "grouped";
  j["form"] = name(g.form);
  j["sizes"] = g.sizes;
}

decltype(Op::kind) kind_from(const json& j) {
  const std::string& op = text(field(j, "op"), "op");
  if (op == "reshard") return Reshard{};
  if (op == "einsum")
    return Einsum{text(field(j, "lhs"), "lhs"), text(field(j, "rhs"), "rhs"), text(field(j, "out"), "out")};
  if (op != "grouped") throw Malformed(fmt::format("unknown op \"{}\"", op));
  Grouped g{named({Form::fwd, Form::dgrad, Form::wgrad}, field(j, "form"), "form"), {}};
  for (const json& sizes : list(field(j, "sizes"), "sizes")) g.sizes.push_back(integers(sizes, "sizes"));
  return g;
}

}  // namespace

json to_json(const Mesh& mesh) {
  json axes = json::array();
  for (const Axis& a : mesh.axes) axes.push_back({a.name, a.size});
  json j = {{"axes", std::move(axes)}};
  if (!mesh.place.empty()) j["ids"] = ids(mesh);
  return j;
}

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

json to_json(const Case& c) {
  json j = {{"mesh", to_json(c.mesh)},     {"rule", name(c.rule)},  {"acc", format(c.acc).name},
            {"wire", format(c.wire).name}, {"fill", name(c.fill)},  {"seed", c.seed},
            {"operands", json::array()},   {"chain", json::array()}};
  std::visit([&](const auto& kind) { put(j, kind); }, c.op.kind);
  for (const Spec& s : c.op.operands) j["operands"].push_back(spec_json(c.mesh, s));
  for (const Spec& s : c.op.chain) j["chain"].push_back(spec_json(c.mesh, s));
  return j;
}

Case case_from_json(const json& j) {
  Case c;
  c.mesh = mesh_from_json(field(j, "mesh"));
  c.op.kind = kind_from(j);
  for (const json& s : list(field(j, "operands"), "operands")) c.op.operands.push_back(spec_from(c.mesh, s));
  for (const json& s : list(field(j, "chain"), "chain")) c.op.chain.push_back(spec_from(c.mesh, s));
  c.rule = named({Rule::flat, Rule::nested}, field(j, "rule"), "rule");
  c.acc = dtype_from(field(j, "acc"), "acc");
  c.wire = dtype_from(field(j, "wire"), "wire");
  c.fill = named({Fill::provenance, Fill::cancel, Fill::normal}, field(j, "fill"), "fill");
  if (!field(j, "seed").is_number_unsigned()) throw Malformed("seed is not an integer from 0 to 2^64-1");
  c.seed = j["seed"].get<std::uint64_t>();
  return c;
}

}  // namespace plumb
