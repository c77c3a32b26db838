#include "reference/fill/product.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "reference/fill/fill.h"
#include "reference/fill/hash.h"
#include "reference/fill/patterns.h"
#include "reference/fill/product_budget.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

enum ProductKey : std::uint64_t { kLong = 80 };

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

std::vector<DimRole> einsum_roles(const Case& c, const Letters& words, int operand) {
  const std::string &own = words.operand[operand], &other = words.operand[1 - operand];
  const std::string summed = contracted(c.op);
  std::vector<DimRole> roles(own.size());
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

std::vector<DimRole> grouped_roles(const Case& c, int operand) {
  const DimRole rows{0, 1, -1, true}, summed_rows{0, 0, 0, true}, group{1, 0, -1, false},
      free{0, 1, -1, false}, summed{0, 0, 0, false};
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

// Of every block of a cell how many terms it has.
using Volumes = std::vector<std::int64_t>;

// Of an einsum: boxes over the contracted letters.
Volumes boxes(const std::vector<std::vector<std::int64_t>>& cuts) {
  Volumes all{1};
  for (const std::vector<std::int64_t>& cut : cuts) {
    Volumes finer;
    for (const std::int64_t volume : all)
      for (std::size_t i = 1; i < cut.size(); ++i) finer.push_back(volume * (cut[i] - cut[i - 1]));
    all = std::move(finer);
  }
  return all;
}

// Where rows are summed each group has its own blocks.
std::vector<Volumes> rows_of_groups(const std::vector<Stretch>& stretches, std::size_t groups) {
  std::vector<Volumes> all(groups);
  for (const Stretch& s : stretches)
    if (s.cell >= 0) all[s.cell].push_back(s.rows.size());
  return all;
}

// Pairs beside the triple.
std::int64_t true_pairs(std::int64_t volume) { return (volume - 3 * (volume % 2)) / 2; }
bool has_two_pairs(std::int64_t volume) { return true_pairs(volume) >= 2; }

// The smaller one that is not 0.
std::int64_t least_of(std::int64_t a, std::int64_t b) { return a == 0 || (b > 0 && b < a) ? b : a; }

Load load_of(const Volumes& volumes) {
  Load load;
  for (const std::int64_t volume : volumes) {
    load.blocks += 1;
    load.matched += volume > 1;
    load.weight += volume == 1 ? 1 : volume + volume % 2;
    load.pairs += volume / 2;
    if (has_two_pairs(volume)) load.two_pairs = least_of(load.two_pairs, true_pairs(volume));
  }
  return load;
}

// The budget is that of the fullest cell.
Load fullest(const std::vector<Volumes>& cells) {
  Load most;
  for (const Volumes& volumes : cells) {
    const Load load = load_of(volumes);
    most.blocks = std::max(most.blocks, load.blocks);
    most.weight = std::max(most.weight, load.weight);
    most.matched = std::max(most.matched, load.matched);
    most.pairs = least_of(most.pairs, load.pairs);
    most.two_pairs = least_of(most.two_pairs, load.two_pairs);
  }
  return most;
}

std::int64_t draw_long(const Volumes& volumes, std::uint64_t random) {
  std::int64_t left = below(random, std::max<std::int64_t>(1, std::ranges::count_if(volumes, has_two_pairs)));
  for (std::size_t block = 0; block < volumes.size(); ++block)
    if (has_two_pairs(volumes[block]) && left-- == 0) return static_cast<std::int64_t>(block);
  return -1;
}

std::int64_t free_size(const Case& c, const std::vector<DimRole>& roles, int operand) {
  std::int64_t size = 1;
  for (std::size_t d = 0; d < roles.size(); ++d)
    if (roles[d].free) size *= c.op.operands[operand].dims[d].size;
  return size;
}

}  // namespace

Product product_data(const Case& c) {
  Product p;
  const Letters words = letters(c.op);
  const Grouped* g = grouped(c);
  for (int i : {0, 1}) p.roles[i] = g ? grouped_roles(c, i) : einsum_roles(c, words, i);
  p.cuts = contracted_cuts(c);
  const bool rows = g && g->form == Form::wgrad;
  if (g)
    p.stretches =
        stretches(*g, c.op.operands[0].dims[0].size, rows ? p.cuts[0] : std::vector<std::int64_t>{});
  const std::vector<Volumes> cells =
      rows ? rows_of_groups(p.stretches, g->sizes[0].size()) : std::vector<Volumes>{boxes(p.cuts)};
  const std::uint64_t random = key(data_seed(c), 0, kLong);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    p.blocks_of_cell.push_back(std::ssize(cells[cell]));
    p.long_block.push_back(draw_long(cells[cell], mix(random + kGolden * cell)));
  }
  const Load load = fullest(cells);
  // A different pair for each column of the perturbed operand: it should have columns.
  p.perturbed = free_size(c, p.roles[1], 1) > 1 || free_size(c, p.roles[0], 0) <= 1 ? 1 : 0;
  p.budget = product_budget(c, p.perturbed, load,
                            {free_size(c, p.roles[1 - p.perturbed], 1 - p.perturbed),
                             free_size(c, p.roles[p.perturbed], p.perturbed)});
  return p;
}

Matching matching(std::int64_t volume, std::uint64_t random) {
  Matching m{0, volume, 1, 0, 1};
  if (volume < 2) return m;
  m.shift = below(random, volume);
  if (volume < 4) return m;
  std::int64_t distance = volume / 4 + below(mix(random), volume / 2 + 1);
  while (std::gcd(distance, volume) != 1) distance = distance % (volume - 1) + 1;
  m.distance = distance;
  m.step = static_cast<std::int64_t>(
      inverse_mod(static_cast<std::uint64_t>(distance), static_cast<std::uint64_t>(volume)));
  return m;
}

}  // namespace plumb
