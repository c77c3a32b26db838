// Law: the data of a line, and what is shown of them, stay what they are, of long sums and many devices as
// well. golden/recipes.txt has blocks of drawn lines, each block with a digest.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "reference/fill/fill.h"
#include "reference/fill/recipe.h"
#include "reference/fill/testing/said.h"
#include "reference/words/letters.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"

namespace plumb {
namespace {

std::string said(const Provenance& p) {
  return fmt::format("provenance {} {} {} {} {} {} {} {}", p.patterns.positives, p.patterns.count,
                     p.patterns.low, p.patterns.below_low, p.order.count, p.order.step, p.order.shift,
                     p.distinct);
}
std::string said(const Normal&) { return "normal"; }
std::string said(const Addends& a) { return "addends " + said(a.shares) + said(a.unit); }
std::string said(const Contest& c) {
  return fmt::format("contest {} {} {} {}", c.parts, c.most, c.largest, said(c.unit)) +
         (c.octaves ? fmt::format(" {}", c.octaves) : "") +
         (c.beyond ? fmt::format(" beyond {}", *c.beyond) : "");
}
std::string said(const Wrapping& w) {
  std::string text = "wrapping";
  for (const auto& o : w.operand)
    text += fmt::format(" {} {} {} {}", o.whole_range, o.odd, o.shift, said(o.shares));
  return text;
}

std::string said(const Product& p) {
  std::string text = "product";
  for (const auto& roles : p.roles)
    for (const DimRole& r : roles) text += fmt::format(" {},{},{},{}", r.cell, r.free, r.contracted, r.rows);
  for (const auto& cuts : p.cuts) text += fmt::format(" cuts {}", fmt::join(cuts, ","));
  text += fmt::format(" blocks {} long {}", fmt::join(p.blocks_of_cell, ","), fmt::join(p.long_block, ","));
  for (const Stretch& s : p.stretches)
    text += fmt::format(" {}:{} {} {}", s.rows.begin, s.rows.end, s.cell, s.block);
  return text + fmt::format(" perturbed {} {}", p.perturbed, said(p.budget));
}

std::string said(const Tiles& t) {
  std::string text = fmt::format(" tiles {}", fmt::join(t.count, ","));
  for (const auto& along : t.along) text += fmt::format(" {}", fnv(fmt::format("{}", fmt::join(along, ","))));
  return text;
}
std::string said(const std::vector<MembersDrawn>& members) {
  std::string text;
  for (const MembersDrawn& m : members)
    text += fmt::format("{};{}|", fmt::join(m.number, ","), fmt::join(m.count, ","));
  return fmt::format(" members {}", fnv(text));
}

std::string said(const Tiled& t) {
  std::string text = "tiled" + said(t.tiles) + said(t.members) + fmt::format(" {}", t.differing);
  for (const auto* lists : {&t.holders, &t.holder})
    for (const auto& list : *lists) text += fmt::format(" {}", fnv(fmt::format("{}", fmt::join(list, ","))));
  return text;
}

std::string said(const Coded& c) {
  std::string text = fmt::format("coded {} {} {} {} {}", c.large, c.varies, c.grouped,
                                 static_cast<double>(c.terms), c.split);
  for (const auto& o : c.operand)
    text +=
        fmt::format("\n  {} along {} parts {} unit {} line {} has {} opposite {}", static_cast<int>(o.scheme),
                    o.along, o.parts, o.unit, fnv(fmt::format("{}", fmt::join(o.line, ","))),
                    fnv(std::string(o.has_line.begin(), o.has_line.end())),
                    fnv(std::string(o.opposite.begin(), o.opposite.end()))) +
        said(o.tiles) + said(o.members);
  return text;
}

std::string data_of(const Case& c) {
  std::string text;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    const Tensor whole = fill(c, static_cast<int>(i));
    text +=
        fmt::format(" {:x}", fnv({reinterpret_cast<const char*>(whole.bytes.data()), whole.bytes.size()}));
  }
  return text;
}

std::string said(const Case& c) {
  const Certificate proof = certificate(c);
  const Recipe made = recipe(c);
  std::string text = print(c) + "\n  " + std::visit([](const auto& data) { return said(data); }, made.data);
  text += fmt::format("\n  scope {} {}", static_cast<int>(proof.scope), proof.text);
  if (const auto& s = proof.shown)
    text += fmt::format(" shown {} {} {} {}", s->operand[0], s->operand[1], s->sum, shows_less(c, *s));
  for (const auto& cuts : contracted_cuts(c)) text += fmt::format(" cut {}", fmt::join(cuts, ","));
  if (work_of(c) < 1 << 17) text += data_of(c);
  if (is_reshard(c))
    for (const std::uint64_t bits : {0u, 1u, 0x38u, 0x3f80u, 0x3f800000u})
      text += fmt::format(" {}", origin(c, bits));
  return text + "\n";
}

// Sums of up to a million terms, of which few or many are of a device.
Case draw_long(Random& random) {
  random.letters = {1, 2, 3, 4, 7, 8, 33, 64, 300, 1000, 4096, 100000, 1 << 20};
  random.moved = {1, 2, 5, 64, 1000, 70000}, random.quantized = {1, 5, 32, 64, 80, 512, 1000};
  random.axes = 3, random.longest_axis = random.one_in(4) ? 64 : 4;
  for (;;) {
    const Case c = draw_case(random);
    double most = 1;  // the elements of four long dimensions are more than 64 bits count
    for (const Spec& spec : c.op.operands) {
      double count = 1;
      for (const Dim& dim : spec.dims) count *= static_cast<double>(dim.size);
      most = std::max(most, count);
    }
    if (is_resolve(c) || devices(c.mesh) > 4096 || most > 0x1p40) continue;
    if ((quantizes(c.op) || is_quantize(c) || std::holds_alternative<Grouped>(c.op.kind)) && most > 0x1p20)
      continue;
    return c;
  }
}

std::string block_of_lines(const std::string& number) {
  Random random{std::mt19937_64(std::stoull(number))};
  std::string text;
  for (int i = 0; i < 10; ++i) text += said(draw_to_run(random));
  for (int i = 0; i < 10; ++i) text += said(draw_long(random));
  return text;
}

TEST(Fill, RecipesAreWhatTheyWere) {
  expect_pinned(PLUMB_GOLDEN "/recipes.txt", numbered(200), block_of_lines);
}

}  // namespace
}  // namespace plumb
