#include "harness/compare/kind.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <vector>

#include "reference/words/text.h"

namespace plumb {
namespace {

// Letters for the axes of a mesh: A for the first that is asked for.
struct Roles {
  const Mesh& mesh;
  std::map<AxisId, std::string> letters{};

  const std::string& of(AxisId axis) {
    const auto [at, added] = letters.try_emplace(axis);
    if (added) {
      const auto n = static_cast<int>(letters.size()) - 1;
      at->second = n < 26 ? std::string(1, static_cast<char>('A' + n)) : fmt::format("A{}", n);
    }
    return at->second;
  }
  std::string of(const std::vector<AxisId>& axes) {
    std::string text;
    for (AxisId axis : axes) text += (text.empty() ? "" : ".") + of(axis);
    return text;
  }
};

std::string by_role(Roles& roles, const Spec& spec) {
  std::string text = "[";
  for (const Dim& dim : spec.dims) text += (&dim == spec.dims.data() ? "" : ",") + roles.of(dim.axes);
  text += "]";
  if (spec.free) text += "?";
  if (spec.scheme != Scheme::none) text += "~";
  if (spec.unfinished.empty()) return text;
  const std::string axes = roles.of(spec.unfinished);
  if (spec.reduction != Reduce::sum) return text + fmt::format("+{}({})", name(spec.reduction), axes);
  return text + (spec.averaged.empty() ? "+" + axes : fmt::format("+avg({})", axes));
}

std::string kind_of_op(const Op& op) {
  if (const auto* e = std::get_if<Einsum>(&op.kind))
    return fmt::format("einsum {},{}->{}", e->lhs, e->rhs, e->out);
  if (const auto* g = std::get_if<Grouped>(&op.kind)) return fmt::format("grouped {}", name(g->form));
  return std::string(name(op));
}

std::string by_role(Roles& roles, const Case& c) {
  std::string text = kind_of_op(c.op);
  for (const Spec& spec : c.op.operands) text += " " + by_role(roles, spec);
  for (const Spec& spec : c.op.chain) text += " -> " + by_role(roles, spec);
  return text;
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Words without numbers, and with letters where axes of the case are named.
std::string without_particulars(const std::string& words, Roles& roles) {
  std::string text;
  for (std::size_t at = 0; at < words.size();) {
    if (!in_word(words[at])) {
      text += words[at++];
      continue;
    }
    std::size_t end = at;
    while (end < words.size() && in_word(words[end])) ++end;
    const std::string word = words.substr(at, end - at);
    at = end;
    bool is_axis = false;
    for (std::size_t a = 0; a < roles.mesh.axes.size() && !is_axis; ++a)
      if (roles.mesh.axes[a].name == word) text += roles.of(static_cast<AxisId>(a)), is_axis = true;
    if (is_axis) continue;
    bool digits = false;
    for (char c : word) {
      const bool digit = std::isdigit(static_cast<unsigned char>(c));
      if (!digit) text += c;
      if (digit && !digits) text += 'N';
      digits = digit;
    }
  }
  return text;
}

// What follows the place in the source that a logger writes before its words: "F0123 spmd.cc:4711] words".
std::string without_place(const std::string& line) {
  const std::size_t end = line.find("] ");
  if (end == line.npos) return line;
  std::size_t number = end;
  while (number > 0 && std::isdigit(static_cast<unsigned char>(line[number - 1]))) --number;
  return number < end && number > 0 && line[number - 1] == ':' ? line.substr(end + 2) : line;
}

std::vector<std::string> pieces(const std::string& text, char between) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

// Of what a program said last the check that ended it: the line that says so, else the first.
std::string check_of(const std::string& words) {
  std::string first;
  for (const std::string& line : pieces(words, '\n')) {
    if (line.find("Check failed") != line.npos || line.find("Error:") != line.npos)
      return without_place(line);
    if (first.empty()) first = line;
  }
  return without_place(first);
}

// Words of which those with a layout or a place on the mesh are "...": the layouts of a kind say them.
//   2 of 4 devices; the first, 1 (x=0,y=1), says it holds [4:8] instead of [0:4]
//   2 of 4 devices; the first, 1 ... says it holds ... instead of ...
std::string without_layouts(const std::string& words) {
  std::string text;
  for (const std::string& word : pieces(words, ' '))
    text += (text.empty() ? "" : " ") + (word.find_first_of("[=") == word.npos ? word : "...");
  return text;
}

std::string why(const Record& r, Roles& roles) {
  if (r.verdict.facts.empty()) return "";
  const Fact& fact = r.verdict.facts.front();
  if (!fact.cause.empty()) return without_particulars(fact.cause, roles);
  if (of_values(fact)) return "values";
  if (fact.status == Status::diverged) return "replicas";  // what follows says where
  if (fact.status == Status::wasteful)                     // then how many times, and the limit
    return without_particulars(fact.text.substr(0, fact.text.find(": ")), roles);
  if (fact.status == Status::misplaced) return without_particulars(without_layouts(fact.text), roles);
  const std::string said = fact.text + (r.last_words.empty() ? "" : ": " + check_of(r.last_words));
  return without_particulars(said, roles);
}

}  // namespace

std::string without_release(const std::string& backend) {
  const std::size_t at = backend.find('@'), comma = backend.find(',');
  if (at == backend.npos || at > comma || backend.find('/') < at) return backend;
  return backend.substr(0, at) + (comma == backend.npos ? "" : backend.substr(comma));
}

std::string layouts_by_role(const Case& c) {
  Roles roles{c.mesh};
  return by_role(roles, c);
}

Kind kind_of(const Record& r) {
  Kind kind{without_release(r.backend), r.verdict.status};
  if (!finding(r.verdict.status) && r.verdict.status != Status::unsupported) return kind;
  Case c;
  try {
    c = parse_case(r.line);
  } catch (const BadInput&) {  // of plumb prove: no line
    return kind;
  }
  Roles roles{c.mesh};
  kind.layouts = by_role(roles, c);
  kind.why = why(r, roles);
  return kind;
}

}  // namespace plumb
