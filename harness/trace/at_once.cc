#include "harness/trace/at_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "harness/trace/cells.h"
#include "harness/trace/cost.h"
#include "harness/trace/lower_bound.h"
#include "harness/trace/sides.h"
#include "harness/trace/steps.h"
#include "harness/trace/traffic.h"
#include "reference/bytes/bytes.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

constexpr std::int64_t most_cells = std::int64_t{1} << 20;      // of all devices together
constexpr std::int64_t most_looked_at = std::int64_t{1} << 22;  // the same, of all divisions of the mesh

using Begins = std::vector<std::int64_t>;
using Box = std::vector<Range>;  // of every letter, in the order of Cut::letters

// The terms of an einsum, cut wherever a block begins or ends.
struct Cut {
  std::string letters;
  std::vector<std::vector<std::int64_t>> edges;  // of each letter

  std::size_t at(char letter) const { return letters.find(letter); }
  std::int64_t count() const {
    std::int64_t n = 1;
    for (const auto& of : edges) n = std::min(most_cells + 1, n * (std::ssize(of) - 1));
    return n;
  }
  Box cell(std::int64_t number) const {
    Box box;
    for (const auto& of : edges) {
      const std::int64_t n = std::ssize(of) - 1;
      box.push_back({of[number % n], of[number % n + 1]});
      number /= n;
    }
    return box;
  }
};

bool lies_in(const Range& part, const Range& whole) {
  return whole.begin <= part.begin && part.end <= whole.end;
}

bool holds(const Cut& terms, const std::string& word, const Slice& slice, const Box& cell) {
  for (std::size_t d = 0; d < word.size(); ++d)
    if (!lies_in(cell[terms.at(word[d])], slice[d])) return false;
  return true;
}

Cut terms_of(const Case& c, const Letters& words, const std::vector<Slice> (&held)[2],
             const std::vector<Slice>& due) {
  std::map<char, std::set<std::int64_t>> edges;
  const auto note = [&](const std::string& word, const Slice& slice) {
    for (std::size_t d = 0; d < word.size(); ++d) edges[word[d]].insert({slice[d].begin, slice[d].end});
  };
  for (int i : {0, 1}) {
    for (std::size_t d = 0; d < words.operand[i].size(); ++d)
      edges[words.operand[i][d]].insert({0, c.op.operands[i].dims[d].size});
    for (const Slice& slice : held[i]) note(words.operand[i], slice);
  }
  for (const Slice& slice : due) note(words.out, slice);
  Cut terms;
  for (const auto& [letter, of] : edges)
    terms.letters += letter, terms.edges.emplace_back(of.begin(), of.end());
  return terms;
}

// The number of the set in which each device is.
std::vector<std::size_t> numbered(const Mesh& mesh, const Sets& sets) {
  std::vector<std::size_t> set_of(devices(mesh));
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (std::int64_t d : sets[s]) set_of[d] = s;
  return set_of;
}

// Whether a collective takes anything from one of the sets to another.
bool joins(const Mesh& mesh, const Sets& sets, const Collective& one) {
  if (names_nobody(one)) return true;
  const std::vector<std::size_t> set_of = numbered(mesh, sets);
  const auto apart = [&](std::int64_t a, std::int64_t b) { return set_of[a] != set_of[b]; };
  return std::ranges::any_of(one.pairs, [&](const auto& pair) { return apart(pair.first, pair.second); }) ||
         std::ranges::any_of(groups_of(mesh, one), [&](const auto& group) {
           return std::ranges::any_of(group, [&](std::int64_t d) { return apart(d, group[0]); });
         });
}

// The collectives that join the sets.
Trace joining(const Mesh& mesh, const Sets& sets, const Trace& trace) {
  Trace found;
  std::ranges::copy_if(trace, std::back_inserter(found), [&](const Collective& one) {
    return moved(mesh, one) != 0 && joins(mesh, sets, one);
  });
  return found;
}

// What each device holds of both operands, and is due of the result.
struct Lies {
  const Cut& terms;
  const Letters& words;
  const std::vector<Slice> (&held)[2];
  const std::vector<Slice>& due;

  bool has(int operand, const std::vector<std::int64_t>& set, const Box& cell) const {
    return std::ranges::any_of(
        set, [&](std::int64_t d) { return holds(terms, words.operand[operand], held[operand][d], cell); });
  }
  bool needs(const std::vector<std::int64_t>& set, const Box& cell) const {
    return std::ranges::any_of(set, [&](std::int64_t d) { return holds(terms, words.out, due[d], cell); });
  }
  bool made(const Sets& sets, const Box& cell) const {
    return std::ranges::any_of(sets, [&](const auto& set) { return has(0, set, cell) && has(1, set, cell); });
  }
};

// The elements of both operands that a set lacks for its terms that none makes.
std::int64_t lacks(const Lies& lies, const std::vector<Box>& unmade, const std::vector<std::int64_t>& set) {
  std::set<std::vector<std::int64_t>> factors[2];
  std::int64_t sum = 0;
  for (const Box& cell : unmade) {
    if (!lies.needs(set, cell)) continue;
    for (int i : {0, 1}) {
      if (lies.has(i, set, cell)) continue;
      std::int64_t size = 1;
      std::vector<std::int64_t> begins;
      for (char letter : lies.words.operand[i]) {
        const Range& range = cell[lies.terms.at(letter)];
        begins.push_back(range.begin), size *= range.size();
      }
      if (factors[i].insert(begins).second) sum += size;
    }
  }
  return sum;
}

// The cells of some letters.
Cut along(const Cut& terms, const std::string& word) {
  Cut some;
  for (std::size_t i = 0; i < terms.letters.size(); ++i)
    if (word.find(terms.letters[i]) != std::string::npos)
      some.letters += terms.letters[i], some.edges.push_back(terms.edges[i]);
  return some;
}

// The terms of which no device of a set holds any factor of an operand.
std::int64_t terms_lacking(const Lies& lies, int operand, const std::vector<std::int64_t>& set) {
  const std::string& word = lies.words.operand[operand];
  std::string summed = word;
  std::erase_if(summed, [&](char letter) { return lies.words.out.find(letter) != std::string::npos; });
  const Cut cells = along(lies.terms, summed);
  std::int64_t sum = 0;
  for (std::int64_t number = 0; number < cells.count(); ++number) {
    const Box box = cells.cell(number);
    const auto holds_any = [&](std::int64_t d) {
      const Slice& slice = lies.held[operand][d];
      for (std::size_t i = 0; i < word.size(); ++i)
        if (const std::size_t at = cells.at(word[i]); at != std::string::npos && !lies_in(box[at], slice[i]))
          return false;
      return elements(slice) > 0;
    };
    if (std::ranges::none_of(set, holds_any)) sum += elements(box);
  }
  return sum;
}

// Values that a set must be told for the blocks of some of it, as fewest_received() has it of a device.
std::int64_t told(const Lies& lies, int operand, const std::vector<std::int64_t>& set,
                  const std::vector<std::int64_t>& due) {
  const std::string &word = lies.words.operand[operand], &out = lies.words.out,
                    &other = lies.words.operand[1 - operand];
  struct Batch {
    std::int64_t size = 1;
    std::map<Begins, AlikeRows> rows;
  };
  std::map<Begins, Batch> batches;  // by the letters of all three
  const auto each = [&](const std::string& of, const std::string& shared, auto&& add) {
    const Cut cells = along(lies.terms, of);
    for (std::int64_t number = 0; number < cells.count(); ++number) {
      const Box box = cells.cell(number);
      Begins batch, row;
      std::int64_t batch_size = 1, count = 1, rest = 1;
      for (std::size_t i = 0; i < box.size(); ++i) {
        const bool in_row = shared.find(cells.letters[i]) != std::string::npos,
                   in_batch = in_row && other.find(cells.letters[i]) != std::string::npos;
        if (in_row) (in_batch ? batch : row).push_back(box[i].begin);
        (in_batch ? batch_size : in_row ? count : rest) *= box[i].size();
      }
      Batch& of_all = batches[batch];
      AlikeRows& at = of_all.rows[row];
      of_all.size = batch_size, at.count = count, add(at, cells, box, rest);
    }
  };
  each(word, out, [&](AlikeRows& row, const Cut& cells, const Box& box, std::int64_t size) {
    const auto has = [&](std::int64_t d) { return holds(cells, word, lies.held[operand][d], box); };
    if (std::ranges::none_of(set, has)) row.lacks += size;
  });
  each(out, word, [&](AlikeRows& row, const Cut& cells, const Box& box, std::int64_t size) {
    const auto needs = [&](std::int64_t d) { return holds(cells, out, lies.due[d], box); };
    if (std::ranges::any_of(due, needs)) row.due += size;
  });
  const std::int64_t others = terms_lacking(lies, 1 - operand, set);
  __int128 sum = 0;
  for (const auto& [begins, batch] : batches) {
    std::vector<AlikeRows> rows;
    for (const auto& [row, alike] : batch.rows) rows.push_back(alike);
    sum += batch.size * values_told(std::move(rows), others);
  }
  return static_cast<std::int64_t>(sum);
}

std::set<std::size_t> sets_with(const std::vector<std::size_t>& set_of,
                                const std::vector<std::int64_t>& some) {
  std::set<std::size_t> all;
  for (std::int64_t d : some) all.insert(set_of[d]);
  return all;
}

// Whether a set of devices has all parts of a box.
bool makes(const Case& c, const std::vector<Slice>& begins, const std::vector<std::int64_t>& set,
           const Slice& box) {
  const Spec& from = c.op.operands[0];
  std::set<std::int64_t> held;
  for (std::int64_t d : set)
    if (contains(begins[d], box)) held.insert(part(c.mesh, from, d));
  return std::ssize(held) == parts(c.mesh, from);
}

// The fewest bytes that a device must be brought of what its set lacks.
using Fewest = std::function<std::int64_t(const std::vector<std::int64_t>& set, std::int64_t device)>;

// The first device that was brought less.
std::string brought_too_late(const Mesh& mesh, const Sets& sets, const Trace& trace,
                             const Fewest& fewest_of) {
  const std::vector<std::int64_t> most = most_from_others(mesh, sets, trace);
  for (const auto& set : sets)
    for (std::int64_t d : set) {
      if (most.empty() || set.size() == 1) return "";
      if (const std::int64_t fewest = fewest_of(set, d); most[d] < fewest)
        return fmt::format("device {} was brought at most {} bytes of what its fibre lacks, and needs {}", d,
                           most[d], fewest);
    }
  return "";
}

}  // namespace

std::string brought_too_little(const Case& c, const Trace& trace) {
  if (!result(c).unfinished.empty() || result(c).free) return "";
  std::vector<Slice> begins, ends;
  for (std::int64_t d = 0; d < devices(c.mesh); ++d) {
    begins.push_back(block(c.mesh, c.op.operands[0], c.rule, d));
    ends.push_back(block(c.mesh, result(c), c.rule, d));
  }
  const auto cells = cells_of(begins, ends, most_cells);
  if (!cells) return "";
  std::int64_t work = 0, pairs = 0;
  for (const Sets& sets : cuts(c.mesh, trace)) {
    work += std::ssize(cells->boxes) * std::ssize(begins);
    if (work > most_looked_at) return "";
    const std::vector<std::size_t> set_of = numbered(c.mesh, sets);
    std::vector<std::int64_t> fewest(sets.size()), of_each(begins.size());
    for (std::size_t cell = 0; cell < cells->boxes.size(); ++cell)
      for (const std::size_t s : sets_with(set_of, cells->needers[cell])) {
        if (makes(c, begins, sets[s], cells->boxes[cell])) continue;
        const std::int64_t bytes = elements(cells->boxes[cell]) * least_bytes(c);
        fewest[s] += bytes;
        for (std::int64_t d : cells->needers[cell])
          if (set_of[d] == s) of_each[d] += bytes;
      }
    std::string why = brought_too_little(c.mesh, sets, fewest, joining(c.mesh, sets, trace));
    pairs += std::ssize(begins) * std::ssize(begins);
    if (why.empty() && pairs <= most_looked_at)
      why = brought_too_late(c.mesh, sets, trace, [&](const auto&, std::int64_t d) { return of_each[d]; });
    if (!why.empty()) return why;
  }
  return "";
}

std::string brought_too_little(const Case& c, const std::vector<Slice>& slices, const Trace& trace) {
  const auto in_parts = [&](const Spec& spec) { return parts(c.mesh, spec) > 1; };
  if (!std::holds_alternative<Einsum>(c.op.kind) || slices.empty() || in_parts(result(c)) ||
      std::ranges::any_of(c.op.operands, in_parts))
    return "";
  const Letters words = letters(c.op);
  std::vector<Slice> held[2];
  for (int i : {0, 1})
    for (std::int64_t d = 0; d < devices(c.mesh); ++d)
      held[i].push_back(block(c.mesh, c.op.operands[i], c.rule, d));
  const Cut terms = terms_of(c, words, held, slices);
  const Lies lies{terms, words, held, slices};
  const std::int64_t cells = terms.count();
  if (cells > most_cells / std::ssize(slices)) return "";
  std::int64_t work = 0;
  for (const Sets& sets : divisions(c.mesh)) {
    const Trace across = joining(c.mesh, sets, trace);
    const bool once = across.size() == 1 && across[0].times == 1;
    if (!once && sets.front().size() == 1) continue;  // what a device is told is known already
    work += cells * std::ssize(slices);
    if (work > most_looked_at) return "";
    std::vector<Box> unmade;
    if (once)
      for (std::int64_t number = 0; number < cells; ++number)
        if (Box cell = terms.cell(number); !lies.made(sets, cell)) unmade.push_back(std::move(cell));
    std::vector<std::int64_t> fewest;
    for (const auto& set : sets)
      fewest.push_back(bytes_of_value(c) * std::max({told(lies, 0, set, set), told(lies, 1, set, set),
                                                     lacks(lies, unmade, set)}));
    if (std::string why = brought_too_little(c.mesh, sets, fewest, across); !why.empty()) return why;
    work += cells * std::ssize(slices) * std::ssize(sets.front());
    if (work > most_looked_at) return "";
    const Fewest of_factors = [&](const auto& set, std::int64_t d) {
      return bytes_of_value(c) * std::max(told(lies, 0, set, {d}), told(lies, 1, set, {d}));
    };
    if (std::string why = brought_too_late(c.mesh, sets, trace, of_factors); !why.empty()) return why;
  }
  return "";
}

}  // namespace plumb
