#include "reference/hlo/module/sdy.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "reference/hlo/module/parse.h"

namespace plumb::hlo {
namespace {

// A string of the text as it reads: \" is a quote, and so is ' where axes are named.
std::string unescaped(std::string_view raw) {
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\\' && i + 1 < raw.size()) ++i;
    text += raw[i] == '"' ? '\'' : raw[i];
  }
  return text;
}

// "<["a"=4, "b"=2]>"
Mesh scan_sdy_mesh(Scan& scan) {
  Mesh mesh;
  scan.expect("<[");
  while (!scan.take("]")) {
    if (!mesh.axes.empty()) scan.expect(", ");
    scan.expect("'");
    std::string axis(scan.word("the name of an axis"));
    scan.expect("'=");
    const std::int64_t extent = scan.number("the size of an axis");
    if (extent < 1 || size(mesh) > kMostDevices / extent) scan.fail("not the size of an axis");
    mesh.axes.emplace_back(std::move(axis), extent);
  }
  if (scan.take(", device_ids=")) mesh.devices.list = scan.numbers('[', ']');
  const Integers& ids = mesh.devices.list;
  const bool one = mesh.axes.empty() && ids.size() == 1;  // a mesh of one device, whichever
  if (!ids.empty() && !one && !is_permutation(ids, size(mesh))) scan.fail("each device has one id");
  scan.expect(">");
  return mesh;
}

// "{mesh = #sdy.mesh<...>, other = ...}"
std::map<std::string, Mesh> scan_meshes(Scan& scan) {
  std::map<std::string, Mesh> meshes;
  scan.expect("{");
  while (!scan.take("}")) {
    if (!meshes.empty()) scan.expect(", ");
    const std::string name(scan.word("the name of a mesh"));
    scan.expect(" = #sdy.mesh");
    meshes[name] = scan_sdy_mesh(scan);
  }
  return meshes;
}

// "<@mesh, [{'a'}, {}], replicated={'b'}>"; the mesh may stand there itself, "<mesh<['a'=4]>, [{'a'}]>"
Sharding scan_one(Scan& scan, const std::map<std::string, Mesh>& meshes) {
  Sharding s;
  s.spread = Spread::named;
  scan.expect("<");
  if (scan.take("mesh")) {
    s.axes.mesh = scan_sdy_mesh(scan);
  } else {
    scan.expect("@");
    const auto mesh = meshes.find(std::string(scan.word("a mesh")));
    if (mesh == meshes.end()) scan.fail("the module has no such mesh");
    s.axes.mesh = mesh->second;
  }
  const std::size_t begin = scan.at;
  scan.expect(", [");
  while (!scan.take("]")) {
    if (!s.axes.dims.empty()) scan.expect(", ");
    s.axes.dims.push_back(scan_open(scan, s.axes.mesh));
    if (scan.take("p")) scan.number("a priority");
  }
  while (scan.take(", ")) {
    const bool replicated = scan.take("replicated=");
    if (!replicated) scan.expect("unreduced=");
    (replicated ? s.axes.replicated : s.axes.unreduced) = scan_axes(scan, s.axes.mesh);
  }
  check_once(scan, s.axes, begin);
  scan.expect(">");
  return s;
}

// "#sdy<manual_axes{'a', 'b'}>"
std::set<std::string> scan_manual(Scan& scan) {
  std::set<std::string> axes;
  scan.expect("'#sdy<manual_axes{");
  while (!scan.take("}>'")) {
    if (!axes.empty()) scan.expect(", ");
    scan.expect("'");
    axes.emplace(scan.word("the name of an axis"));
    scan.expect("'");
  }
  return axes;
}

// The axes of the region whose border an instruction is; nothing where it does not say: all of them.
using Region = std::optional<std::set<std::string>>;

// A region is entered over its own axes, which are the first of a dimension; the others are the
// partitioner's.
void keep_only(const std::set<std::string>& region, Axes& axes) {
  const auto is_free = [&](const AxisPart& part) {
    return !region.contains(axes.mesh.axes[static_cast<std::size_t>(part.axis)].first);
  };
  for (auto& dim : axes.dims) {
    if (!std::ranges::is_partitioned(dim, std::not_fn(is_free)))
      throw BadModule("unsupported: a dimension that an axis of the region divides behind others");
    std::erase_if(dim, is_free);
  }
  for (auto* kind : {&axes.replicated, &axes.unreduced}) std::erase_if(*kind, is_free);
}

const std::string* text_of(const Texts& texts, std::string_view key) {
  const auto found = std::ranges::find(texts, key, &std::pair<std::string, std::string>::first);
  return found == texts.end() ? nullptr : &found->second;
}

Region region_of(const Instruction& instruction) {
  const std::string* axes = text_of(instruction.frontend, "xla.sdy.manual_axes");
  if (!axes) return std::nullopt;
  const std::string text = unescaped(*axes);
  Scan scan{text, "xla.sdy.manual_axes"};
  return scan_manual(scan);
}

}  // namespace

std::vector<Sharding> sdy_shardings(const Module& module, const Instruction& instruction,
                                    std::string_view key) {
  const std::string* meshes = text_of(module.frontend, "xla.sdy.meshes");
  const std::string* value = text_of(instruction.frontend, key);
  if (!value) refuse(module, instruction, "no " + std::string(key));
  const std::string mesh_text = meshes ? unescaped(*meshes) : "{}", text = unescaped(*value);
  try {
    Scan mesh_scan{mesh_text, "xla.sdy.meshes"};
    const auto named = scan_meshes(mesh_scan);
    Scan scan{text, key};
    scan.expect("'#sdy.sharding_per_value<[");
    std::vector<Sharding> all;
    while (!scan.take("]>'")) {
      if (!all.empty()) scan.expect(", ");
      all.push_back(scan_one(scan, named));
    }
    if (const Region region = region_of(instruction))
      for (Sharding& s : all) keep_only(*region, s.axes);
    return all;
  } catch (const BadModule& error) {
    refuse(module, instruction, error.what());
  }
}

namespace {

Sharding others_manual(const Region& region, const Mesh& mesh) {
  Sharding outside{.spread = Spread::named};
  outside.axes.mesh = mesh;
  if (region)
    for (std::size_t a = 0; a < mesh.axes.size(); ++a)
      if (!region->contains(mesh.axes[a].first))
        outside.axes.manual.push_back({static_cast<int>(a), 1, mesh.axes[a].second});
  return outside;
}

Region region_of(const Sharding& inside) {
  if (inside.spread != Spread::named || inside.axes.whole == Spread::manual) return std::nullopt;
  std::set<std::string> axes;
  for (const AxisPart& part : inside.axes.manual)
    axes.insert(inside.axes.mesh.axes[static_cast<std::size_t>(part.axis)].first);
  return axes;
}

}  // namespace

Sharding sdy_outside(const Instruction& instruction, const Mesh& mesh) {
  return others_manual(region_of(instruction), mesh);
}

Sharding sdy_cut(Sharding outside, const Sharding& inside) {
  if (const Region region = region_of(inside)) keep_only(*region, outside.axes);
  return outside;
}

Sharding sdy_outside(const Sharding& inside) { return others_manual(region_of(inside), inside.axes.mesh); }

}  // namespace plumb::hlo
