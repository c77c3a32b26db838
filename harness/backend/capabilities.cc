#include "harness/backend/capabilities.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "harness/backend/spelling.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

DType dtype_from(const std::string& name, std::string_view what) {
  const auto dtype = dtype_named(name);
  if (!dtype) throw Malformed(fmt::format("{}: no dtype \"{}\"", what, name));
  return *dtype;
}

std::vector<DType> dtypes_from(const json& j, std::string_view what) {
  std::vector<DType> out;
  for (const std::string& name : texts(j, what)) out.push_back(dtype_from(name, what));
  return out;
}

Promise promise_from(const json& j, std::string_view what) {
  Promise p{std::vector<DType>{}, false};
  for (const std::string& name : texts(j, what)) {
    if (name == "unspecified")
      p.unspecified = true;
    else
      p.types->push_back(dtype_from(name, what));
  }
  return p;
}

Engine engine_from(const json& j) {
  const std::string& word = text(j, "engine");
  const std::optional<Engine> engine = engine_named(word);
  if (!engine) throw Malformed(fmt::format("engine: unknown word \"{}\"", word));
  return *engine;
}

std::vector<Rule> rules_from(const json& j) {
  std::vector<Rule> out;
  for (const std::string& word : texts(j, "rules")) {
    if (word != "flat" && word != "nested") throw Malformed(fmt::format("rules: unknown word \"{}\"", word));
    out.push_back(word == "flat" ? Rule::flat : Rule::nested);
  }
  return out;
}

std::vector<Scheme> schemes_from(const json& j) {
  std::vector<Scheme> out;
  for (const std::string& word : texts(j, "schemes")) {
    constexpr Scheme all[] = {Scheme::fp8, Scheme::fp8e5, Scheme::mxfp8, Scheme::mxfp8e5};
    const auto* at = std::ranges::find(all, word, [](Scheme s) { return name(s); });
    if (at == std::end(all)) throw Malformed(fmt::format("schemes: unknown word \"{}\"", word));
    out.push_back(*at);
  }
  return out;
}

std::vector<std::string> words_of(const json& j, std::string_view what,
                                  std::initializer_list<std::string_view> known) {
  std::vector<std::string> words = texts(j, what);
  for (const std::string& word : words)
    if (std::ranges::find(known, word) == known.end())
      throw Malformed(fmt::format("{}: unknown word \"{}\"", what, word));
  return words;
}

// Whether the word is `second`, where only `first` and `second` are legal.
bool second_of(const json& j, std::string_view what, std::string_view first, std::string_view second) {
  const std::string& word = text(j, what);
  if (word != first && word != second) throw Malformed(fmt::format("{}: unknown word \"{}\"", what, word));
  return word == second;
}

// A name that the page has not, with the nearest that it has.
[[noreturn]] void unknown(std::string_view what, const std::string& name,
                          const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  throw Malformed(fmt::format("{} \"{}\"{}", what, name,
                              near.empty() ? "" : fmt::format(", did you mean \"{}\"?", near)));
}

const std::vector<std::string> role_names = {"moved", "summed", "multiplied"};
const std::vector<std::string> op_names = {"reshard", "einsum", "grouped", "quantize", "resolve"};

// A list, or one for each role: {"moved":["f32","s32"],"multiplied":["f32"]}.
DTypes dtypes_by_role(const json& j) {
  DTypes dtypes;
  if (!j.is_object()) {
    dtypes.of.fill(dtypes_from(j, "dtypes"));
    return dtypes;
  }
  dtypes.by_role = true;
  for (const auto& [key, value] : j.items()) {
    const auto role = std::ranges::find(role_names, key);
    if (role == role_names.end()) unknown("dtypes: there is no role", key, role_names);
    dtypes.of[role - role_names.begin()] = dtypes_from(value, "dtypes." + key);
  }
  return dtypes;
}

// The same, or an object that has ops beside the roles:
// {"reshard":["s32","f32"],"einsum":{"multiplied":["f32"]}}.
void take_dtypes(Capabilities& c, const json& j) {
  if (!j.is_object()) {
    c.dtypes = dtypes_by_role(j);
    return;
  }
  json by_role = json::object();
  for (const auto& [key, value] : j.items()) {
    if (std::ranges::find(op_names, key) != op_names.end())
      c.dtypes_of[key] = dtypes_by_role(value);
    else if (std::ranges::find(role_names, key) != role_names.end())
      by_role[key] = value;
    else
      unknown("dtypes: there is no role and no op", key, [] {
        auto all = role_names;
        all.insert(all.end(), op_names.begin(), op_names.end());
        return all;
      }());
  }
  c.dtypes = dtypes_by_role(by_role);
}

struct Field {
  const char* name;
  void (*take)(Capabilities&, const json&);
};

// clang-format off
constexpr Field capability_fields[] = {
    {"ops", [](Capabilities& c, const json& j) { c.ops = words_of(j, "ops", {"reshard", "einsum", "grouped", "quantize", "resolve"}); }},
    {"dtypes", take_dtypes},
    {"max_devices", [](Capabilities& c, const json& j) { c.max_devices = count(j, "max_devices"); }},
    {"max_rank", [](Capabilities& c, const json& j) { c.max_rank = count(j, "max_rank"); }},
    {"rules", [](Capabilities& c, const json& j) { c.rules = rules_from(j); }},
    {"reductions", [](Capabilities& c, const json& j) { c.reductions = words_of(j, "reductions", {"sum", "avg", "max", "min"}); }},
    {"submesh", [](Capabilities& c, const json& j) { c.submesh = truth(j, "submesh"); }},
    {"acc", [](Capabilities& c, const json& j) { c.acc = promise_from(j, "acc"); }},
    {"wire", [](Capabilities& c, const json& j) { c.wire = promise_from(j, "wire"); }},
    {"engine", [](Capabilities& c, const json& j) { c.engine = engine_from(j); }},
    {"schemes", [](Capabilities& c, const json& j) { c.schemes = schemes_from(j); }},
    {"tail", [](Capabilities& c, const json& j) { c.tail_undefined = second_of(j, "tail", "zero", "undefined"); }},
    {"parts", [](Capabilities& c, const json& j) { c.parts_rounded = second_of(j, "parts", "exact", "rounded"); }},
    {"data", [](Capabilities& c, const json& j) { c.plans_only = second_of(j, "data", "blocks", "none"); }},
    {"free", [](Capabilities& c, const json& j) { c.free = truth(j, "free"); }},
    {"chains", [](Capabilities& c, const json& j) { c.chains = truth(j, "chains"); }},
    {"clones", [](Capabilities& c, const json& j) { c.clones = truth(j, "clones"); }},
    {"mesh_fixed", [](Capabilities& c, const json& j) { c.mesh_fixed = truth(j, "mesh_fixed"); }},
};
// clang-format on

// A field that the page has not would say nothing, and be believed to: it is refused.
Capabilities capabilities_from(const json& j) {
  object(j, "capabilities");
  Capabilities c;
  for (const auto& [name, value] : j.items()) {
    const auto* field = std::ranges::find(capability_fields, name, &Field::name);
    if (field == std::end(capability_fields)) {
      std::vector<std::string> known;
      for (const Field& f : capability_fields) known.emplace_back(f.name);
      unknown("capabilities: there is no field", name, known);
    }
    if (!value.is_null()) field->take(c, value);
  }
  return c;
}

template <class T>
bool has(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool keeps_to(const Promise& p, DType dtype) { return !p.types || p.unspecified || has(*p.types, dtype); }

bool is_product(const Op& op) {
  return std::holds_alternative<Einsum>(op.kind) || std::holds_alternative<Grouped>(op.kind);
}

std::optional<std::string> dtype_outside(const Capabilities& has_only, const Case& c, const Spec& s,
                                         Role as) {
  const auto own = has_only.dtypes_of.find(name(c.op));
  const DTypes& dtypes = own == has_only.dtypes_of.end() ? has_only.dtypes : own->second;
  const auto role = static_cast<int>(as);
  if (!dtypes.of[role] || has(*dtypes.of[role], s.dtype)) return std::nullopt;
  return fmt::format("{}{}", dtypes.by_role ? role_names[role] + " " : "", format(s.dtype).name);
}

std::optional<std::string> spec_outside(const Capabilities& has_only, const Case& c, const Spec& s, Role as) {
  if (auto reason = dtype_outside(has_only, c, s, as)) return reason;
  if (has_only.max_rank && std::ssize(s.dims) > *has_only.max_rank)
    return fmt::format("rank {}", s.dims.size());
  if (!s.unfinished.empty()) {
    const std::string reduction(s.averaged.empty() ? name(s.reduction) : "avg");
    if (!has(has_only.reductions, reduction)) return "unfinished " + reduction;
  }
  return std::nullopt;
}

std::optional<std::string> scheme_outside(const Capabilities& has_only, Scheme scheme) {
  if (scheme == Scheme::none || has(has_only.schemes, scheme)) return std::nullopt;
  return fmt::format("scheme {}", name(scheme));
}

std::optional<std::string> reason_outside(const Capabilities& has_only, const Case& c) {
  if (has_only.ops && !has(*has_only.ops, std::string(name(c.op)))) return std::string(name(c.op));
  if (const auto* quantize = std::get_if<Quantize>(&c.op.kind))
    if (auto reason = scheme_outside(has_only, quantize->scheme)) return reason;
  for (const Spec& operand : c.op.operands)
    if (auto reason = scheme_outside(has_only, operand.scheme)) return reason;
  if (has_only.max_devices && devices(c.mesh) > *has_only.max_devices)
    return fmt::format("{} devices", devices(c.mesh));
  if (!has_only.submesh && !c.sub.empty()) return "a submesh";
  if (!has_only.free && std::ranges::any_of(c.op.chain, &Spec::free)) return "a free result";
  if (!has_only.chains && c.op.chain.size() > results(c).size()) return "a chain";
  const bool adds = sums(c.op);  // looks at the whole chain
  const Role made = adds ? Role::summed : Role::moved;
  for (const Spec& s : c.op.operands)
    if (auto reason = spec_outside(has_only, c, s, is_product(c.op) ? Role::multiplied : made)) return reason;
  for (const Spec& s : c.op.chain)
    if (auto reason = spec_outside(has_only, c, s, made)) return reason;
  if (!has(has_only.rules, c.rule) && rule_matters(c)) return fmt::format("{} splits", name(c.rule));
  if (adds && !keeps_to(has_only.acc, c.acc)) return fmt::format("acc={}", format(c.acc).name);
  if (adds && !keeps_to(has_only.wire, c.wire)) return fmt::format("wire={}", format(c.wire).name);
  return std::nullopt;
}

}  // namespace

Hello hello_from_json(const json& j) {
  Hello h;
  h.name = text(field(j, "name"), "name");
  if (h.name.empty()) throw Malformed("name is empty");
  if (const json* versions = optional_field(j, "versions"))
    for (const auto& [key, value] : object(*versions, "versions").items())
      h.versions.emplace_back(key, text(value, "versions"));
  if (const json* places = optional_field(j, "places")) h.places = texts(*places, "places");
  if (const json* devices = optional_field(j, "devices")) {
    h.devices = count(field(object(*devices, "devices"), "count"), "the count of devices");
    if (*h.devices == 0) throw Malformed("the count of devices is 0");
    h.device_kind = text(field(*devices, "kind"), "the kind of devices");
  }
  if (const json* alone = optional_field(j, "alone")) h.alone = truth(*alone, "alone");
  if (const json* fills = optional_field(j, "fills")) h.fills = truth(*fills, "fills");
  if (const json* times = optional_field(j, "times")) h.times = truth(*times, "times");
  if (const json* c = optional_field(j, "capabilities")) h.capabilities = capabilities_from(*c);
  return h;
}

std::optional<Unsupported> outside(const Capabilities& capabilities, const Case& c) {
  if (auto reason = reason_outside(capabilities, c)) return Unsupported{*reason, "capabilities"};
  return std::nullopt;
}

std::optional<Unsupported> more_than_it_has(const Hello& hello, const Case& c) {
  const Capabilities& said = hello.capabilities;
  if (!hello.devices || said.max_devices || said.plans_only || devices(c.mesh) <= *hello.devices)
    return std::nullopt;
  return Unsupported{fmt::format("{} devices", devices(c.mesh)),
                     fmt::format("devices.count is {}", *hello.devices)};
}

bool rule_matters(const Case& c) {
  const auto differs = [&](const Dim& d) {
    if (d.axes.size() < 2) return false;
    for (std::int64_t i = 0; i < axes_size(c.mesh, d.axes); ++i)
      if (piece(c.mesh, d, Rule::flat, i) != piece(c.mesh, d, Rule::nested, i)) return true;
    return false;
  };
  for (const auto* specs : {&c.op.operands, &c.op.chain})
    for (const Spec& s : *specs)
      if (std::any_of(s.dims.begin(), s.dims.end(), differs)) return true;
  return false;
}

}  // namespace plumb
