#include "harness/report/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "harness/measure/statistics.h"
#include "harness/report/table.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Axes = std::vector<AxisId>;
using ByLetter = std::map<char, Axes>;

ByLetter split_of(const Spec& spec, const std::string& letters) {
  ByLetter all;
  for (std::size_t d = 0; d < letters.size(); ++d) all[letters[d]] = spec.dims[d].axes;
  return all;
}

bool plain(const Spec& spec) { return !spec.free && spec.unfinished.empty() && spec.scheme == Scheme::none; }

// How each letter of a product is split where it is multiplied, and over which axes sums are left.
struct Multiplied {
  ByLetter split;
  Axes left;
};

Multiplied multiplied(const Case& c, const Einsum& e) {
  const ByLetter lhs = split_of(c.op.operands[0], e.lhs), rhs = split_of(c.op.operands[1], e.rhs);
  Multiplied at{split_of(c.op.chain[0], e.out), {}};
  for (const auto& [letter, axes] : lhs)
    if (const auto other = rhs.find(letter); !at.split.contains(letter) && other != rhs.end()) {
      at.split[letter] = axes == other->second ? axes : Axes{};
      at.left.insert(at.left.end(), at.split[letter].begin(), at.split[letter].end());
    }
  for (char letter : e.out)
    std::erase_if(at.split[letter], [&](AxisId axis) { return std::ranges::count(at.left, axis) > 0; });
  std::ranges::sort(at.left);
  return at;
}

Spec laid(Spec spec, const std::string& letters, const Multiplied& at) {
  for (std::size_t d = 0; d < letters.size(); ++d)
    if (const auto found = at.split.find(letters[d]); found != at.split.end())
      spec.dims[d].axes = found->second;
  return spec;
}

// The block of a device as an array of its own; nothing where blocks are uneven.
std::optional<Spec> one_block(const Mesh& mesh, Spec spec) {
  for (Dim& dim : spec.dims) {
    const std::int64_t pieces = axes_size(mesh, dim.axes);
    if (dim.size % pieces != 0) return std::nullopt;
    dim = {dim.size / pieces, {}};
  }
  spec.unfinished.clear();
  return spec;
}

void add_reshard(std::vector<Case>& all, const Case& c, const Spec& from, const Spec& to) {
  if (from == to) return;
  Case moved = c;
  moved.op = {Reshard{}, {from}, {to}};
  moved.acc = default_acc(moved.op), moved.wire = default_wire(moved.op), moved.fill = default_fill(moved.op);
  all.push_back(std::move(moved));
}

}  // namespace

std::optional<Apart> apart(const Case& c) {
  const auto* e = std::get_if<Einsum>(&c.op.kind);
  if (!e || devices(c.mesh) == 1 || !c.sub.empty() || c.op.chain.size() != 1) return std::nullopt;
  if (!plain(c.op.operands[0]) || !plain(c.op.operands[1]) || !plain(c.op.chain[0])) return std::nullopt;
  const Multiplied at = multiplied(c, *e);
  const Spec lhs = laid(c.op.operands[0], e->lhs, at), rhs = laid(c.op.operands[1], e->rhs, at);
  Spec made = laid(c.op.chain[0], e->out, at);
  made.unfinished = at.left;
  const auto left = one_block(c.mesh, lhs), right = one_block(c.mesh, rhs), out = one_block(c.mesh, made);
  if (!left || !right || !out) return std::nullopt;
  Apart parts{c, {}};
  parts.local.mesh = parse_case("on x=1: reshard f32[1] -> f32[1]").mesh;
  parts.local.op = {
      *e, {*left, *right},
       {*out    }
  };
  add_reshard(parts.sent, c, c.op.operands[0], lhs);
  add_reshard(parts.sent, c, c.op.operands[1], rhs);
  add_reshard(parts.sent, c, made, c.op.chain[0]);
  return parts;
}

namespace {

// Whether each device has a core of its own: one process may have many, and run them one after the other.
bool on_cores_of_their_own(const Timings& t) {
  if (devices(parse_case(t.line).mesh) == 1) return true;
  const bool said = std::ranges::any_of(t.repetitions, [](const Repetition& r) { return !r.places.empty(); });
  return said && who_shares(t).own.empty();
}

// Of the medians of its repetitions, in nanoseconds. Of too few, and of devices that share cores and so wait for one
// as well, nobody knows what is sent.
struct Took {
  double middle = 0, least = 0, most = 0;
  bool enough = true;
};

Took of_repetitions(const Timings& t) {
  const std::vector<double> each = medians(t);
  const auto [least, most] = std::ranges::minmax(each);
  return {quantile(each, 0.5), least, most, each.size() >= fewest_compared && on_cores_of_their_own(t)};
}

Took operator+(const Took& a, const Took& b) {
  return {a.middle + b.middle, a.least + b.least, a.most + b.most, a.enough && b.enough};
}

Took operator-(const Took& a, const Took& b) {
  return {a.middle - b.middle, a.least - b.most, a.most - b.least, a.enough && b.enough};
}

std::string in_words(const Took& t) {
  const std::string between = fmt::format("({:.4g} to {:.4g})", t.least / 1000, t.most / 1000);
  const bool sure = t.enough && (t.least > 0 || t.most < 0);
  return sure ? fmt::format("{:.4g} {}", t.middle / 1000, between) : "UNSURE " + between;
}

// The op alone says what is timed: a mesh of one device may be called otherwise, and data are of a seed.
const Timings* timed_as(const Case& wanted, const std::string& backend, const std::vector<Timings>& all) {
  const auto found = std::ranges::find_if(all, [&](const Timings& t) {
    const Case c = parse_case(t.line);
    const bool alone = devices(wanted.mesh) == 1 && devices(c.mesh) == 1;
    return t.backend == backend && c.op == wanted.op && c.sub.empty() && (alone || c.mesh == wanted.mesh);
  });
  return found == all.end() ? nullptr : &*found;
}

// Nothing where its local part was not timed.
std::optional<Named> overlap_of(const Timings& t, const std::vector<Timings>& all) {
  const auto parts = apart(parse_case(t.line));
  const Timings* local = parts ? timed_as(parts->local, t.backend, all) : nullptr;
  if (!local) return std::nullopt;
  const Took whole = of_repetitions(t), alone = of_repetitions(*local);
  const auto us = [](const Took& one) { return fmt::format("{:.4g}", one.middle / 1000); };
  Named row{t.line + "  " + t.backend, {{"", us(whole), us(alone), in_words(whole - alone), "none", "-"}}};
  Took sent{};
  for (const Case& one : parts->sent) {
    const Timings* timed = timed_as(one, t.backend, all);
    if (!timed) return row.name += "\n    not timed: " + print(one), row.rows[0][4] = "-", row;
    sent = sent + of_repetitions(*timed);
  }
  if (!parts->sent.empty()) row.rows[0][4] = us(sent), row.rows[0][5] = in_words(alone + sent - whole);
  return row;
}

}  // namespace

std::string overlap_table(const std::vector<Timings>& all) {
  std::vector<Named> rows;
  for (const Timings& t : all)
    if (auto row = overlap_of(t, all)) rows.push_back(std::move(*row));
  if (rows.empty()) return "";
  return columns_below({"overlap", "whole us", "local us", "communication costs us", "alone us", "hidden us"}, rows, 1);
}

}  // namespace plumb
