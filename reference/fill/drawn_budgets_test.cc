// The budgets of a product, of drawn loads: laws, and that they stay what they are.
// golden/product_budgets.txt has a digest for each block of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference/fill/product_budget.h"
#include "reference/fill/testing/said.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"

namespace plumb {
namespace {

// Small and large numbers alike.
std::int64_t draw_size(Random& random, std::int64_t most) {
  const std::int64_t n =
      random.bits() >> (63 - random.below(std::bit_width(static_cast<std::uint64_t>(most))));
  return std::min(n, most);
}

Load draw_load(Random& random) {
  Load load;
  if (random.one_in(40)) return load;
  load.blocks = 1 + draw_size(random, 1 << 20);
  load.matched = random.one_in(3) ? load.blocks : random.one_in(3) ? 0 : draw_size(random, load.blocks);
  load.pairs = load.matched == 0 ? 0 : load.matched * (1 + draw_size(random, 1 << 12));
  load.weight = load.blocks - load.matched + 2 * load.pairs + (random.one_in(2) ? load.matched : 0);
  load.two_pairs =
      load.matched > 0 && random.one_in(2) ? draw_size(random, std::max<std::int64_t>(1, load.pairs)) : 0;
  return load;
}

Case draw_product(Random& random) {
  for (;;) {
    Case c = draw_to_run(random);
    if (std::holds_alternative<Einsum>(c.op.kind) && !quantizes(c.op)) return c;
  }
}

// No sum of the data is more than the formats count to.
void expect_exact(const Case& c, const Load& load, const ProductBudget& w) {
  if (!w.exists || load.blocks == 0) return;
  EXPECT_LE(w.terms, most_terms(c) / w.unit.factor) << print(c) << said(w);
  EXPECT_LE(w.carried, capacity({c.acc, c.wire, result(c).dtype}) / w.unit.factor) << print(c) << said(w);
}

std::string block_of_loads(const std::string& number) {
  Random random{std::mt19937_64(std::stoull(number))};
  std::string text;
  for (int i = 0; i < 12; ++i) {
    const Case c = draw_product(random);
    text += print(c) + "\n";
    for (int n = 0; n < 25; ++n) {
      const Load load = draw_load(random);
      const Free free{draw_size(random, 1 << 10), draw_size(random, 1 << 10)};
      const int perturbed = static_cast<int>(random.below(2));
      const ProductBudget w = product_budget(c, perturbed, load, free);
      text += fmt::format("  {} {} {} {} {}, {} {}, {}: {}\n", load.blocks, load.weight, load.matched,
                          load.pairs, load.two_pairs, free.plain, free.perturbed, perturbed, said(w));
      expect_exact(c, load, w);
    }
  }
  for (int i = 0; i < 50; ++i) {
    const std::int64_t parts = 1 + draw_size(random, 1 << 16),
                       budget = 1 + draw_size(random, std::int64_t{1} << 40);
    const Shares s = shares(parts, budget);
    EXPECT_LE(mass(s), budget) << said(s);
    EXPECT_LE(largest(s), mass(s)) << said(s);
    text += said(s) + "\n";
  }
  return text;
}

TEST(ProductBudgets, AreExactAndWhatTheyWere) {
  expect_pinned(PLUMB_GOLDEN "/product_budgets.txt", numbered(60), block_of_loads);
}

}  // namespace
}  // namespace plumb
