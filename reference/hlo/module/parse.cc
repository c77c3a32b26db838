// Modules, computations, instructions.
#include "reference/hlo/module/parse.h"

#include <algorithm>

namespace plumb::hlo {
namespace {

// What of a computation the instructions still need while they are read.
struct Reading {
  Names computations, instructions;
  Module& module;
  Integers depths{};  // of each computation, how deep calls go there
};

// Whoever goes through calls does it by recursion.
constexpr std::int64_t kDeepestCalls = 1000;

// Whether a name comes next, and not a shape: "%dot.3", or "dot.3" as modules printed without percent signs
// have it.
bool name_is_next(const Scan& scan) {
  if (scan.next_is("%")) return true;
  Scan ahead{scan.text, scan.file, scan.at};
  return !ahead.letters().empty() && !ahead.next_is("[");
}

// "name", or "name#1": of a tuple the element, which JAX 0.12 writes in the place of a get-tuple-element.
std::string_view scan_name(Scan& scan, std::string_view what) {
  const std::string_view name = scan.word(what);
  const std::size_t begin = scan.at - name.size();
  if (scan.take("#")) scan.number("the number of an element");
  return scan.text.substr(begin, scan.at - begin);
}

// "tuple#1" is made an instruction of that name where first met: its place among the others.
std::int64_t element(Scan& scan, std::size_t begin, Computation& computation, Names& names) {
  const std::size_t percent = scan.text[begin] == '%';
  const std::string_view name = scan.text.substr(begin + percent, scan.at - begin - percent);
  const std::size_t sign = name.find('#');
  const auto tuple = names.find(name.substr(0, sign));
  if (sign == name.npos || tuple == names.end())
    scan.fail("no instruction %" + std::string(name.substr(0, sign)) + " stands above", begin);
  const Shape& whole = computation.instructions[static_cast<std::size_t>(tuple->second)].shape;
  Scan digits{name, scan.file, sign + 1};
  const std::int64_t n = digits.number("the number of an element");
  if (whole.type != Type::tuple || n < 0 || n >= std::ssize(whole.parts))
    scan.fail(print(whole, false) + " has no element " + std::to_string(n), begin);
  Instruction made;
  made.name = name, made.opcode = Opcode::get_tuple_element,
  made.shape = whole.parts[static_cast<std::size_t>(n)];
  made.operands =
      {
          tuple->second
  },
  made.attributes = {{Key::index, n}}, made.at = begin;
  computation.instructions.push_back(std::move(made));
  return names[name] = std::ssize(computation.instructions) - 1;
}

// "f32[2]{0} %name", "%name" or "name": an earlier instruction.
std::int64_t scan_operand(Scan& scan, Computation& computation, Names& names) {
  Shape shape;
  const bool with_shape = !name_is_next(scan);
  const std::size_t begin = scan.at;
  if (with_shape) shape = scan_shape(scan), scan.spaces();
  const std::size_t named = scan.at;
  scan.take("%");
  const std::string_view name = scan_name(scan, "an operand");
  const auto known = names.find(name);
  const std::int64_t found = known == names.end() ? element(scan, named, computation, names) : known->second;
  const Shape& is = computation.instructions[static_cast<std::size_t>(found)].shape;
  if (with_shape && !same_arrays(shape, is))
    scan.fail("%" + std::string(name) + " is " + print(is, false), begin);
  return found;
}

// What stands in the brackets behind the opcode.
void scan_operands(Scan& scan, Instruction& instruction, Computation& computation, Names& names) {
  scan.expect("(");
  scan.spaces();
  if (instruction.opcode == Opcode::parameter) {
    instruction.attributes.push_back({Key::index, scan.number("the number of a parameter")});
  } else if (instruction.opcode == Opcode::constant) {
    instruction.literal = scan_literal(scan, instruction.shape);
  } else {
    while (!scan.next_is(")")) {
      if (!instruction.operands.empty()) scan.expect(",");
      scan.spaces();
      instruction.operands.push_back(scan_operand(scan, computation, names));
      scan.spaces();
    }
  }
  scan.spaces();
  scan.expect(")");
}

// The two branches of a predicate stand by themselves: true_computation=%a, false_computation=%b.
bool scan_branch(Scan& scan, std::string_view name, Instruction& instruction, const Names& computations) {
  const bool first = name == "true_computation";
  if (instruction.opcode != Opcode::conditional || !(first || name == "false_computation")) return false;
  const Integers called = std::get<Calls>(scan_value(scan, Form::computation, computations)).computations;
  if (first == (find(instruction, Key::branch_computations) != nullptr))
    scan.fail("a true_computation, then a false_computation", scan.at);
  if (first)
    instruction.attributes.push_back({Key::branch_computations, Calls{called}});
  else
    std::get<Calls>(instruction.attributes.back().value).computations.push_back(called.at(0));
  return true;
}

void scan_attribute(Scan& scan, Instruction& instruction, const Reading& reading) {
  const std::size_t begin = scan.at;
  const std::string name(scan.letters());
  if (name.empty()) scan.fail("expected an attribute");
  scan.expect("=");
  if (scan_branch(scan, name, instruction, reading.computations)) return;
  const auto key = key_named(name);
  if (!key || !takes(instruction.opcode, *key)) {
    scan.unsupported("attribute " + name + " of " + std::string(row(instruction.opcode).name), begin);
    scan.balanced(",");
    return;
  }
  const Form form = row(*key).form;
  if (form == Form::metadata) return scan_metadata(scan, reading.module, instruction);
  if (form == Form::frontend) {
    instruction.frontend = scan_frontend(scan, &instruction);
  } else if (form == Form::sharding) {
    instruction.sharding = {scan_sharding(scan)};
  } else {
    if (find(instruction, *key)) scan.fail("the attribute stands twice", begin);
    Setting value = scan_value(scan, form, reading.computations);
    const bool configures = *key == Key::backend_config && instruction.opcode == Opcode::custom_call;
    if (form != Form::harmless || configures) instruction.attributes.push_back({*key, std::move(value)});
  }
}

void check(const Scan& scan, const Instruction& instruction) {
  const OpcodeRow& facts = row(instruction.opcode);
  const auto operands = std::ssize(instruction.operands);
  if (operands < facts.least || (facts.most != kMany && operands > facts.most))
    scan.fail(std::string(facts.name) + " of " + std::to_string(operands) + " operands", instruction.at);
  const std::string_view key = lacking(instruction.opcode, instruction.attributes);
  if (!key.empty() && scan.unknown.empty())  // an attribute that is not known may be that one
    scan.fail(std::string(facts.name) + " without " + std::string(key), instruction.at);
}

// The rest of the line of an opcode that is not known.
void skip(Scan& scan, std::string_view opcode, std::size_t where) {
  if (opcode.empty() || !scan.next_is("(")) scan.fail("expected an opcode", where);
  scan.unsupported("opcode " + std::string(opcode), where);
  scan.balanced("\n");
}

void scan_instruction(Scan& scan, Computation& computation, Reading& reading) {
  Instruction instruction;
  const bool root = scan.take("ROOT ");
  instruction.at = scan.at;
  scan.take("%");
  const std::string_view name = scan_name(scan, "an instruction");
  instruction.name = name;
  scan.expect(" = ");
  instruction.shape = scan_shape(scan);
  scan.expect(" ");
  const std::size_t begin = scan.at;
  const std::string_view word = scan.letters();
  if (const auto opcode = opcode_named(word)) {
    instruction.opcode = *opcode;
    scan_operands(scan, instruction, computation, reading.instructions);
    while (scan.take(",")) {
      scan.spaces();
      scan_attribute(scan, instruction, reading);
    }
    check(scan, instruction);
  } else {
    skip(scan, word, begin);
  }
  scan.spaces();
  if (scan.next() != '\n') scan.fail("expected the end of the line");
  if (!reading.instructions.emplace(name, std::ssize(computation.instructions)).second)
    scan.fail("two instructions of this name", instruction.at);
  if (root) {
    if (computation.root >= 0) scan.fail("a second ROOT", instruction.at);
    computation.root = std::ssize(computation.instructions);
  }
  computation.instructions.push_back(std::move(instruction));
}

// The parameters in the order of their numbers, each once.
Integers parameters(const Scan& scan, const Computation& computation) {
  Integers list;
  const auto is_parameter = [](const Instruction& i) { return i.opcode == Opcode::parameter; };
  list.assign(static_cast<std::size_t>(std::ranges::count_if(computation.instructions, is_parameter)), -1);
  for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (!is_parameter(instruction)) continue;
    const auto number = get<std::int64_t>(instruction, Key::index, -1);
    if (number < 0 || number >= std::ssize(list) || list[static_cast<std::size_t>(number)] >= 0)
      scan.fail("parameters are numbered from 0, each number once", instruction.at);
    list[static_cast<std::size_t>(number)] = static_cast<std::int64_t>(i);
  }
  return list;
}

struct Signature {
  std::vector<Shape> parameters;
  Shape result;
  std::size_t at = 0;
  bool given = false;
};

// "(a: f32[2], b: f32[]) -> f32[2] "
Signature scan_signature(Scan& scan) {
  Signature signature;
  signature.at = scan.at;
  if (!scan.take("(")) return signature;
  signature.given = true;
  while (!scan.take(")")) {
    if (!signature.parameters.empty()) scan.expect(",");
    scan.spaces();
    scan.word("a parameter");
    scan.expect(": ");
    signature.parameters.push_back(scan_shape(scan));
  }
  scan.expect(" -> ");
  signature.result = scan_shape(scan);
  scan.spaces();
  return signature;
}

void check(const Scan& scan, const Signature& signature, const Computation& computation) {
  const auto shape = [&](std::int64_t i) {
    return computation.instructions[static_cast<std::size_t>(i)].shape;
  };
  if (!signature.given || !scan.unknown.empty()) return;
  bool same = same_arrays(signature.result, shape(computation.root)) &&
              signature.parameters.size() == computation.parameters.size();
  for (std::size_t i = 0; same && i < signature.parameters.size(); ++i)
    same = same_arrays(signature.parameters[i], shape(computation.parameters[i]));
  if (!same)
    scan.fail("the computation has other parameters or another result than its head says", signature.at);
}

// What it calls stands above it.
std::int64_t depth(const Computation& computation, const Integers& depths) {
  std::int64_t deepest = 0;
  for (const Instruction& i : computation.instructions)
    for (const Attribute& a : i.attributes)
      if (const Calls* calls = std::get_if<Calls>(&a.value))
        for (const std::int64_t c : calls->computations)
          deepest = std::max(deepest, depths[static_cast<std::size_t>(c)]);
  return deepest + 1;
}

void scan_computation(Scan& scan, Reading& reading) {
  Computation computation;
  computation.root = -1;
  const std::size_t begin = scan.at;
  const bool entry = scan.take("ENTRY ");
  scan.take("%");
  computation.name = scan.word("a computation");
  const std::string_view name = scan.text.substr(scan.at - computation.name.size(), computation.name.size());
  scan.spaces();
  const Signature signature = scan_signature(scan);
  scan.expect("{");
  reading.instructions.clear();
  for (scan.blank(); !scan.take("}"); scan.blank()) {
    if (scan.done()) scan.fail("a computation without an end");
    scan_instruction(scan, computation, reading);
  }
  if (scan.take(", execution_thread=")) scan.quoted("a thread");  // who does it
  if (const std::size_t at = scan.at; scan.take(", ")) scan.unsupported(std::string(scan.balanced("\n")), at);
  if (computation.root < 0) scan.fail("a computation without a ROOT", begin);
  computation.parameters = parameters(scan, computation);
  check(scan, signature, computation);
  reading.depths.push_back(depth(computation, reading.depths));
  if (reading.depths.back() > kDeepestCalls)
    scan.fail("calls within calls, more than " + std::to_string(kDeepestCalls) + " deep", begin);
  Module& module = reading.module;
  if (!reading.computations.emplace(name, std::ssize(module.computations)).second)
    scan.fail("two computations of this name", begin);
  if (entry) {
    if (module.entry >= 0) scan.fail("a second ENTRY", begin);
    module.entry = std::ssize(module.computations);
  }
  module.computations.push_back(std::move(computation));
}

// All that is not known, a line each; then where the first of it stands.
[[noreturn]] void refuse(const Scan& scan) {
  std::string list;
  std::size_t first = scan.text.size();
  for (const auto& [what, entry] : scan.unknown) {
    list += (list.empty() ? "" : ", ") + what;
    if (entry.count > 1) list += " (" + std::to_string(entry.count) + " times)";
    first = std::min(first, entry.first);
  }
  const bool complex = std::ranges::any_of(
      scan.unknown, [](const auto& one) { return one.first == "type c64" || one.first == "type c128"; });
  if (complex)
    list += "; of complex numbers nothing is known here: prove the parts of the program without them";
  throw BadModule(message_at(scan.file, scan.text, first, "unsupported: " + list));
}

}  // namespace

Module parse(std::string text, std::string_view file) {
  Module module;
  module.file = file, module.text = std::move(text);
  Scan scan{module.text, file};
  module.entry = -1;
  scan_header(scan, module);
  Reading reading{{}, {}, module};
  for (scan.blank(); !scan.done(); scan.blank()) scan_computation(scan, reading);
  if (module.entry < 0) scan.fail("it has no ENTRY");
  if (!scan.unknown.empty()) refuse(scan);
  return module;
}

void refuse(const Module& module, const Instruction& instruction, std::string_view message) {
  // "replica_groups= have each device once" is of that attribute.
  const std::string_view line = std::string_view(module.text).substr(instruction.at);
  const std::string_view first = message.substr(0, message.find(' '));
  const std::size_t at = first.ends_with('=')
                             ? line.substr(0, line.find('\n')).find(", " + std::string(first))
                             : std::string_view::npos;
  throw BadModule(message_at(module.file, module.text,
                             instruction.at + (at == std::string_view::npos ? 0 : at + 2), message));
}

void refuse(const Module& module, std::string_view message) {
  throw BadModule(module.file + ": " + std::string(message));
}

const Setting* find(const Instruction& instruction, Key key) {
  const auto found = std::ranges::find(instruction.attributes, key, &Attribute::key);
  return found == instruction.attributes.end() ? nullptr : &found->value;
}

std::string source(const Module& module, const Instruction& instruction) {
  if (instruction.frame < 1 || instruction.frame > std::ssize(module.frames)) return {};
  const Frame& frame = module.frames[static_cast<std::size_t>(instruction.frame - 1)];
  if (frame.file.empty()) return {};
  return frame.file + ":" + std::to_string(frame.line) + (frame.function.empty() ? "" : " " + frame.function);
}

}  // namespace plumb::hlo
