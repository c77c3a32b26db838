#include "reference/fill/product.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "reference/fill/fill.h"
#include "reference/fill/hash.h"
#include "reference/fill/patterns.h"
#include "reference/fill/widths.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

bool has(const std::string& word, char letter) { return word.find(letter) != std::string::npos; }

const Grouped* grouped(const Case& c) { return std::get_if<Grouped>(&c.op.kind); }

// Letters of both operands and the result: the batch.
std::int64_t cell_step(const Case& c, const Letters& words, char letter) {
  std::int64_t step = 1;
  for (std::size_t d = words.operand[0].size(); d-- > 0;) {
    const char l = words.operand[0][d];
    if (l == letter) return step;
    if (has(words.operand[1], l) && has(words.out, l)) step *= c.op.operands[0].dims[d].size;
  }
  return step;
}

std::vector<Role> einsum_roles(const Case& c, const Letters& words, int operand) {
  const std::string &own = words.operand[operand], &other = words.operand[1 - operand];
  const std::string summed = contracted(c.op);
  std::vector<Role> roles(own.size());
  std::int64_t free = 1;
  for (std::size_t d = own.size(); d-- > 0;) {
    if (!has(other, own[d])) {
      roles[d].free = free;
      free *= c.op.operands[operand].dims[d].size;
    } else if (has(words.out, own[d])) {
      roles[d].cell = cell_step(c, words, own[d]);
    } else {
      roles[d].contracted = static_cast<int>(summed.find(own[d]));
    }
  }
  return roles;
}

std::vector<Role> grouped_roles(const Case& c, int operand) {
  const Role rows{0, 1, -1, true}, summed_rows{0, 0, 0, true}, group{1, 0, -1, false}, free{0, 1, -1, false},
      summed{0, 0, 0, false};
  switch (grouped(c)->form) {
    case Form::fwd:
      return operand == 0 ? std::vector{rows, summed} : std::vector{group, summed, free};
    case Form::dgrad:
      return operand == 0 ? std::vector{rows, summed} : std::vector{group, free, summed};
    default:
      return {summed_rows, free};
  }
}

// The rows of a grouped matmul, cut where groups begin and end, and at the `cuts` where rows are summed.
std::vector<Stretch> stretches(const Grouped& g, std::int64_t rows, std::vector<std::int64_t> cuts) {
  std::vector<Stretch> all;
  const std::vector<std::vector<Range>> runs = group_rows(g, rows);
  for (std::size_t cell = 0; cell < runs.size(); ++cell) {
    std::int64_t block = 0;
    for (const Range& run : runs[cell]) {
      std::int64_t begin = run.begin;
      auto cut = std::ranges::upper_bound(cuts, begin);
      while (begin < run.end) {
        const std::int64_t end = cut == cuts.end() ? run.end : std::min(run.end, *cut++);
        all.push_back({
            {begin, end},
            static_cast<std::int64_t>(cell), block++
        });
        begin = end;
      }
    }
  }
  std::ranges::sort(all, {}, [](const Stretch& s) { return s.rows.begin; });
  // What lies between belongs to no group.
  std::vector<Stretch> whole;
  std::int64_t at = 0;
  for (const Stretch& s : all) {
    if (s.rows.begin > at)
      whole.push_back({
          {at, s.rows.begin},
          -1, 0
      });
    whole.push_back(s);
    at = s.rows.end;
  }
  if (at < rows)
    whole.push_back({
        {at, rows},
        -1, 0
    });
  return whole;
}

void add(Load& load, std::int64_t volume) {
  if (volume == 0) return;
  load.blocks += 1;
  load.matched += volume > 1;
  load.weight += volume == 1 ? 1 : volume + volume % 2;
  load.pairs += volume / 2;
}

// The blocks of one cell of an einsum: boxes over the contracted letters.
Load box_load(const std::vector<std::vector<std::int64_t>>& cuts, std::size_t letter, std::int64_t volume) {
  Load load;
  if (letter == cuts.size()) {
    add(load, volume);
    return load;
  }
  for (std::size_t i = 1; i < cuts[letter].size(); ++i) {
    const Load part = box_load(cuts, letter + 1, volume * (cuts[letter][i] - cuts[letter][i - 1]));
    load.blocks += part.blocks, load.weight += part.weight, load.matched += part.matched,
        load.pairs += part.pairs;
  }
  return load;
}

// Where rows are summed each group has its own blocks; the budget is that of the fullest.
Load row_load(Product& p, std::size_t groups) {
  std::vector<Load> loads(groups);
  for (const Stretch& s : p.stretches)
    if (s.cell >= 0) add(loads[s.cell], s.rows.size());
  Load most;
  for (const Load& load : loads) {
    p.blocks_of_cell.push_back(load.blocks);
    most.blocks = std::max(most.blocks, load.blocks);
    most.weight = std::max(most.weight, load.weight);
    most.matched = std::max(most.matched, load.matched);
    if (load.pairs > 0) most.pairs = most.pairs > 0 ? std::min(most.pairs, load.pairs) : load.pairs;
  }
  return most;
}

std::int64_t free_size(const Case& c, const std::vector<Role>& roles, int operand) {
  std::int64_t size = 1;
  for (std::size_t d = 0; d < roles.size(); ++d)
    if (roles[d].free) size *= c.op.operands[operand].dims[d].size;
  return size;
}

}  // namespace

Product product(const Case& c) {
  Product p;
  const Letters words = letters(c.op);
  const Grouped* g = grouped(c);
  for (int i : {0, 1}) p.roles[i] = g ? grouped_roles(c, i) : einsum_roles(c, words, i);
  p.cuts = contracted_cuts(c);
  Load load;
  if (g) {
    const bool rows = g->form == Form::wgrad;
    p.stretches =
        stretches(*g, c.op.operands[0].dims[0].size, rows ? p.cuts[0] : std::vector<std::int64_t>{});
    if (rows) load = row_load(p, g->sizes[0].size());
  }
  if (p.blocks_of_cell.empty()) {
    load = box_load(p.cuts, 0, 1);
    p.blocks_of_cell = {load.blocks};
  }
  // A different pair for each column of the perturbed operand: it should have columns.
  p.perturbed = free_size(c, p.roles[1], 1) > 1 || free_size(c, p.roles[0], 0) <= 1 ? 1 : 0;
  p.widths = widths(c, p.perturbed, load);
  count_bits(p.widths, load,
             {free_size(c, p.roles[1 - p.perturbed], 1 - p.perturbed),
              free_size(c, p.roles[p.perturbed], p.perturbed)});
  return p;
}

Matching matching(std::int64_t volume, std::uint64_t random) {
  Matching m{0, volume, 1, 0};
  if (volume < 2) return m;
  m.shift = below(random, volume);
  if (volume < 4) return m;
  std::int64_t distance = volume / 4 + below(mix(random), volume / 2 + 1);
  while (std::gcd(distance, volume) != 1) distance = distance % (volume - 1) + 1;
  m.step = static_cast<std::int64_t>(
      inverse_mod(static_cast<std::uint64_t>(distance), static_cast<std::uint64_t>(volume)));
  return m;
}

}  // namespace plumb
