#include "harness/trace/at_once.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/trace/cost.h"
#include "harness/trace/lower_bound.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

constexpr std::int64_t most_cells = std::int64_t{1} << 20;  // of all devices together

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

// The one collective that moves anything, once.
bool moves_once(const Case& c, const Trace& trace) {
  const Collective* found = nullptr;
  for (const Collective& one : trace) {
    if (moved(c.mesh, one) == 0) continue;
    if (found || one.times != 1 || moved(c.mesh, one) < 0) return false;
    found = &one;
  }
  return found;
}

// What each device holds of both operands, and is due of the result.
struct Lies {
  const Cut& terms;
  const Letters& words;
  const std::vector<Slice> (&held)[2];
  const std::vector<Slice>& due;

  bool has(int operand, std::size_t device, const Box& cell) const {
    return holds(terms, words.operand[operand], held[operand][device], cell);
  }
  bool made(const Box& cell) const {
    for (std::size_t d = 0; d < due.size(); ++d)
      if (has(0, d, cell) && has(1, d, cell)) return true;
    return false;
  }
};

// The elements of both operands that a device lacks for its terms that nobody makes.
std::int64_t lacks(const Lies& lies, const std::vector<Box>& unmade, std::size_t device) {
  std::set<std::vector<std::int64_t>> factors[2];
  std::int64_t sum = 0;
  for (const Box& cell : unmade) {
    if (!holds(lies.terms, lies.words.out, lies.due[device], cell)) continue;
    for (int i : {0, 1}) {
      if (lies.has(i, device, cell)) continue;
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

}  // namespace

std::vector<std::int64_t> fewest_at_once(const Case& c, const std::vector<Slice>& slices,
                                         const Trace& trace) {
  const auto in_parts = [&](const Spec& spec) { return parts(c.mesh, spec) > 1; };
  if (!std::holds_alternative<Einsum>(c.op.kind) || slices.empty() || in_parts(result(c)) ||
      std::ranges::any_of(c.op.operands, in_parts) || !moves_once(c, trace))
    return {};
  const Letters words = letters(c.op);
  std::vector<Slice> held[2];
  for (int i : {0, 1})
    for (std::int64_t d = 0; d < devices(c.mesh); ++d)
      held[i].push_back(block(c.mesh, c.op.operands[i], c.rule, d));
  const Cut terms = terms_of(c, words, held, slices);
  const Lies lies{terms, words, held, slices};
  const std::int64_t cells = terms.count();
  if (cells > most_cells / std::ssize(slices)) return {};
  std::vector<Box> unmade;
  for (std::int64_t number = 0; number < cells; ++number)
    if (Box cell = terms.cell(number); !lies.made(cell)) unmade.push_back(std::move(cell));
  std::vector<std::int64_t> all;
  for (std::size_t d = 0; d < slices.size(); ++d) all.push_back(lacks(lies, unmade, d) * bytes_of_value(c));
  return all;
}

}  // namespace plumb
