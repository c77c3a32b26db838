#include "harness/backend/capabilities.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
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

Capabilities capabilities_from(const json& j) {
  Capabilities c;
  if (const json* f = optional_field(j, "ops"))
    c.ops = words_of(*f, "ops", {"reshard", "einsum", "grouped", "quantize", "resolve"});
  if (const json* f = optional_field(j, "dtypes")) c.dtypes = dtypes_from(*f, "dtypes");
  if (const json* f = optional_field(j, "max_devices")) c.max_devices = count(*f, "max_devices");
  if (const json* f = optional_field(j, "max_rank")) c.max_rank = count(*f, "max_rank");
  if (const json* f = optional_field(j, "rules")) c.rules = rules_from(*f);
  if (const json* f = optional_field(j, "reductions"))
    c.reductions = words_of(*f, "reductions", {"sum", "avg", "max", "min"});
  if (const json* f = optional_field(j, "submesh")) c.submesh = truth(*f, "submesh");
  if (const json* f = optional_field(j, "acc")) c.acc = promise_from(*f, "acc");
  if (const json* f = optional_field(j, "wire")) c.wire = promise_from(*f, "wire");
  if (const json* f = optional_field(j, "schemes")) c.schemes = schemes_from(*f);
  if (const json* f = optional_field(j, "tail"))
    c.tail_undefined = second_of(*f, "tail", "zero", "undefined");
  if (const json* f = optional_field(j, "data")) c.plans_only = second_of(*f, "data", "blocks", "none");
  if (const json* f = optional_field(j, "clones")) c.clones = truth(*f, "clones");
  if (const json* f = optional_field(j, "mesh_fixed")) c.mesh_fixed = truth(*f, "mesh_fixed");
  return c;
}

template <class T>
bool has(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool keeps_to(const Promise& p, DType dtype) { return !p.types || p.unspecified || has(*p.types, dtype); }

std::optional<std::string> spec_outside(const Capabilities& has_only, const Spec& s) {
  if (has_only.dtypes && !has(*has_only.dtypes, s.dtype)) return std::string(format(s.dtype).name);
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
  for (const auto* specs : {&c.op.operands, &c.op.chain})
    for (const Spec& s : *specs)
      if (auto reason = spec_outside(has_only, s)) return reason;
  if (!has(has_only.rules, c.rule) && rule_matters(c)) return fmt::format("{} splits", name(c.rule));
  if (sums(c.op) && !keeps_to(has_only.acc, c.acc)) return fmt::format("acc={}", format(c.acc).name);
  if (sums(c.op) && !keeps_to(has_only.wire, c.wire)) return fmt::format("wire={}", format(c.wire).name);
  return std::nullopt;
}

}  // namespace

Hello hello_from_json(const json& j) {
  Hello h;
  h.name = text(field(j, "name"), "name");
  if (const json* versions = optional_field(j, "versions"))
    for (const auto& [key, value] : versions->items()) h.versions.emplace_back(key, text(value, "versions"));
  if (const json* devices = optional_field(j, "devices")) {
    count(field(*devices, "count"), "the count of devices");
    h.device_kind = text(field(*devices, "kind"), "the kind of devices");
  }
  if (const json* c = optional_field(j, "capabilities")) h.capabilities = capabilities_from(*c);
  return h;
}

std::optional<Unsupported> outside(const Capabilities& capabilities, const Case& c) {
  if (auto reason = reason_outside(capabilities, c)) return Unsupported{*reason, "capabilities"};
  return std::nullopt;
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
