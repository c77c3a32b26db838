#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {
namespace {

std::string print(double x, Type type) {
  if (std::isnan(x)) return std::signbit(x) ? "-nan" : "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", row(type).fewest, x);
  if (rounded(std::strtod(text, nullptr), type) != x)
    std::snprintf(text, sizeof text, "%.*g", row(type).printed, x);
  return text;
}

std::string print(std::int64_t x, const Shape& shape) {
  if (shape.type == Type::pred && shape.dims.empty()) return x ? "true" : "false";
  if (row(shape.type).kind == Kind::unsigned_integer) return std::to_string(static_cast<std::uint64_t>(x));
  return std::to_string(x);
}

// Nested braces, "{ { 1, 2 }, { 3, 4 } }", "{1, 2}".
std::string print(const Literal& literal, const Shape& shape, std::size_t depth, std::size_t& at) {
  if (depth == shape.dims.size()) {
    const std::size_t i = at++;
    return is_real(shape.type) ? print(literal.reals[i], shape.type) : print(literal.integers[i], shape);
  }
  const bool outer = shape.dims.size() > 1;
  std::string text;
  for (std::int64_t i = 0; i < shape.dims[depth]; ++i)
    text += (i > 0 ? ", " : "") + print(literal, shape, depth + 1, at);
  return outer ? "{ " + text + " }" : "{" + text + "}";
}

std::string print(const Texts& texts) {
  std::string text;
  for (const auto& [key, value] : texts) text += (text.empty() ? "" : ",") + key + "=" + value;
  return "{" + text + "}";
}

std::string print(const std::vector<Range>& ranges) {
  std::string text;
  for (const Range& r : ranges)
    text += (text.empty() ? "[" : ", [") + std::to_string(r.begin) + ":" + std::to_string(r.end) +
            (r.step == 1 ? "]" : ":" + std::to_string(r.step) + "]");
  return "{" + text + "}";
}

std::string print(const std::vector<Pad>& pads) {
  std::string text;
  for (const Pad& p : pads)
    text += (text.empty() ? "" : "x") + std::to_string(p.low) + "_" + std::to_string(p.high) +
            (p.inside == 0 ? "" : "_" + std::to_string(p.inside));
  return text;
}

std::string print(const std::vector<Pair>& pairs) {
  std::string text;
  for (const Pair& p : pairs) text += (text.empty() ? "" : ",") + print_list({p[0], p[1]});
  return "{" + text + "}";
}

// " stride=2x2", or nothing where all numbers are the default.
std::string line(const std::vector<WindowDim>& window, const char* key, std::int64_t WindowDim::*field,
                 std::int64_t otherwise) {
  std::string text;
  bool told = false;
  for (const WindowDim& dim : window) {
    told = told || dim.*field != otherwise;
    text += (text.empty() ? "" : "x") + std::to_string(dim.*field);
  }
  return told ? std::string(" ") + key + "=" + text : "";
}

std::string print(const std::vector<WindowDim>& window) {
  std::string pad, reversed;
  bool padded = false, backwards = false;
  for (const WindowDim& dim : window) {
    padded = padded || dim.low != 0 || dim.high != 0;
    backwards = backwards || dim.reversed;
    pad += (pad.empty() ? "" : "x") + std::to_string(dim.low) + "_" + std::to_string(dim.high);
    reversed += std::string(reversed.empty() ? "" : "x") + (dim.reversed ? "1" : "0");
  }
  const std::string text =
      line(window, "size", &WindowDim::size, -1) + line(window, "stride", &WindowDim::stride, 1) +
      (padded ? " pad=" + pad : "") + line(window, "lhs_dilate", &WindowDim::base_dilation, 1) +
      line(window, "rhs_dilate", &WindowDim::dilation, 1) + (backwards ? " rhs_reversal=" + reversed : "");
  return text.empty() ? "{}" : "{" + text.substr(1) + "}";
}

std::string print(const Module& module, const Calls& calls, Form form) {
  std::string text;
  for (const std::int64_t c : calls.computations)
    text += (text.empty() ? "%" : ", %") + module.computations[static_cast<std::size_t>(c)].name;
  return form == Form::computation ? text : "{" + text + "}";
}

std::string print(const Module& module, const Attribute& attribute) {
  const Form form = row(attribute.key).form;
  struct Visitor {
    const Module& module;
    Form form;
    std::string operator()(bool x) const { return x ? "true" : "false"; }
    std::string operator()(std::int64_t x) const { return std::to_string(x); }
    std::string operator()(const Integers& x) const { return print_list(x); }
    std::string operator()(const std::string& x) const { return form == Form::text ? "\"" + x + "\"" : x; }
    std::string operator()(const Calls& x) const { return print(module, x, form); }
    std::string operator()(const std::vector<Range>& x) const { return print(x); }
    std::string operator()(const std::vector<Pad>& x) const { return print(x); }
    std::string operator()(const std::vector<WindowDim>& x) const { return print(x); }
    std::string operator()(const std::vector<Pair>& x) const { return print(x); }
    std::string operator()(const Groups& x) const { return hlo::print(x); }
  };
  return std::string(row(attribute.key).name) + "=" + std::visit(Visitor{module, form}, attribute.value);
}

std::string operands(const Computation& computation, const Instruction& instruction) {
  if (instruction.opcode == Opcode::parameter)
    return std::to_string(get<std::int64_t>(instruction, Key::index));
  std::size_t at = 0;
  if (instruction.opcode == Opcode::constant) return print(instruction.literal, instruction.shape, 0, at);
  std::string text;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    text += i == 0 ? "" : ", ";
    if (i > 0 && i % 5 == 0) text += "/*index=" + std::to_string(i) + "*/";
    text += "%" + computation.instructions[static_cast<std::size_t>(instruction.operands[i])].name;
  }
  return text;
}

std::string print(const std::vector<bool>& list) {
  std::string text;
  for (const bool x : list) text += std::string(text.empty() ? "" : ",") + (x ? "true" : "false");
  return "{" + text + "}";
}

std::string print(const std::vector<Alias>& aliases) {
  std::string text;
  for (const Alias& a : aliases)
    text += (text.empty() ? " " : ", ") + print_list(a.result) + ": (" + std::to_string(a.parameter) + ", " +
            print_list(a.within) + ", " + a.kind + ")";
  return "{" + text + " }";
}

std::string print(const std::vector<Donor>& donors) {
  std::string text;
  for (const Donor& d : donors)
    text += (text.empty() ? " (" : ", (") + std::to_string(d.parameter) + ", " + print_list(d.within) + ")";
  return "{" + text + " }";
}

std::string header(const Module& m) {
  std::string text = "HloModule " + m.name;
  if (m.scheduled) text += ", is_scheduled=true";
  if (!m.aliases.empty()) text += ", input_output_alias=" + print(m.aliases);
  if (!m.donors.empty()) text += ", buffer_donor=" + print(m.donors);
  text += ", entry_computation_layout={" + hlo::print(m.parameters) + "->" + hlo::print(m.result) + "}";
  if (!m.propagated_parameters.empty())
    text += ", allow_spmd_sharding_propagation_to_parameters=" + print(m.propagated_parameters);
  if (!m.propagated_results.empty())
    text += ", allow_spmd_sharding_propagation_to_output=" + print(m.propagated_results);
  if (m.replicas != 1) text += ", replica_count=" + std::to_string(m.replicas);
  if (m.partitions != 1) text += ", num_partitions=" + std::to_string(m.partitions);
  if (!m.frontend.empty()) text += ", frontend_attributes=" + print(m.frontend);
  return text + "\n";
}

bool by_predicate(const Computation& computation, const Instruction& conditional) {
  const auto index = static_cast<std::size_t>(conditional.operands.at(0));
  return computation.instructions[index].shape.type == Type::pred;
}

// ", true_computation=%a, false_computation=%b"
std::string branches(const Module& module, const Calls& calls) {
  std::string text, name = ", true_computation=%";
  for (const std::int64_t c : calls.computations) {
    text += name + module.computations[static_cast<std::size_t>(c)].name;
    name = ", false_computation=%";
  }
  return text;
}

}  // namespace

std::string print(const Module& module, const Computation& computation, const Instruction& instruction) {
  std::string text = "%" + instruction.name + " = " + print(instruction.shape) + " " +
                     std::string(row(instruction.opcode).name) + "(" + operands(computation, instruction) +
                     ")";
  const bool is_parameter = instruction.opcode == Opcode::parameter;
  for (const Attribute& attribute : instruction.attributes)
    if (attribute.key == Key::branch_computations && by_predicate(computation, instruction))
      text += branches(module, std::get<Calls>(attribute.value));
    else if (!is_parameter && attribute.key != Key::backend_config)
      text += ", " + print(module, attribute);
  for (const Sharding& sharding : instruction.sharding) text += ", sharding=" + print(sharding);
  if (!instruction.frontend.empty()) text += ", frontend_attributes=" + print(instruction.frontend);
  if (const Setting* configuration = find(instruction, Key::backend_config))
    text += ", " + print(module, {Key::backend_config, *configuration});
  return text;
}

std::string print(const Module& module) {
  std::string text = header(module);
  for (std::size_t c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    const auto& all = computation.instructions;
    text += static_cast<std::int64_t>(c) == module.entry ? "\nENTRY %" : "\n%";
    text += computation.name + " (";
    for (std::size_t i = 0; i < computation.parameters.size(); ++i) {
      const Instruction& parameter = all[static_cast<std::size_t>(computation.parameters[i])];
      text += (i > 0 ? ", " : "") + parameter.name + ": " + print(parameter.shape, false);
    }
    text += ") -> " + print(all[static_cast<std::size_t>(computation.root)].shape, false) + " {\n";
    for (std::size_t i = 0; i < all.size(); ++i)
      text += (static_cast<std::int64_t>(i) == computation.root ? "  ROOT " : "  ") +
              print(module, computation, all[i]) + "\n";
    text += "}\n";
  }
  return text;
}

}  // namespace plumb::hlo
