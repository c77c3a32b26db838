// Law: a line means what it meant, and what is wrong with another is said as it was, at the same place.
// golden/words.txt has blocks of drawn lines, some damaged, each block with a digest.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "reference/words/letters.h"
#include "reference/words/testing/damage.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

std::string said(const std::optional<Tiles>& tiles) {
  if (!tiles) return "none";
  std::string text = fmt::format("{} {}", size(*tiles), fmt::join(tiles->count, ","));
  for (const auto& along : tiles->along) text += fmt::format(" | {}", fmt::join(along, ","));
  return text;
}

std::string said(const Case& c, const Spec& spec) {
  std::string text = fmt::format("{}: {} elements, {} bytes, {} parts, {} the largest block\n",
                                 print(c.mesh, spec), elements(spec), bytes(spec), parts(c.mesh, spec),
                                 largest_block_bytes(c.mesh, spec, c.rule));
  for (std::int64_t d = 0; d < devices(c.mesh); ++d)
    text += fmt::format("{} part {}; ", print(block(c.mesh, spec, c.rule, d)), part(c.mesh, spec, d));
  return text + "\n";
}

// All that the words room tells of a case.
std::string said(const Case& c) {
  const Letters words = letters(c.op);
  std::string text =
      fmt::format("{}\n{} {} {} {} {} {} {} {}\n", print(c), devices(c.mesh), data_seed(c), quantizes(c.op),
                  sums(c.op), name(c.op), words.operand[0], words.operand[1], words.out);
  for (const Spec& spec : c.op.operands) text += said(c, spec);
  for (const Spec& spec : c.op.chain) text += said(c, spec);
  for (const auto& slice : slices(c)) text += fmt::format("{}; ", fmt::join(slice, ","));
  text += print(slice_case(c)) + "\n";
  if (is_quantize(c)) text += said(tiles(c.op));
  for (int i = 0; i < std::ssize(c.op.operands) && c.op.operands.size() == 2 && !is_quantize(c); ++i)
    text += fmt::format("{} {} {}\n", said(tiles(c.op, i)), block_dim(c.op, i),
                        fmt::join(contracted_dims(c.op, i), ","));
  if (const auto* grouped = std::get_if<Grouped>(&c.op.kind))
    for (const auto& runs : group_rows(*grouped, c.op.operands[0].dims[0].size))
      for (const Range& run : runs) text += fmt::format("{}:{} ", run.begin, run.end);
  return text + "\n";
}

std::string read(const std::string& line) {
  try {
    return print(parse_case(line));
  } catch (const BadInput& error) {
    return error.what();
  }
}

// A mesh of few devices, for which everything is said.
std::string block_of_lines(const std::string& number) {
  Random random{std::mt19937_64(std::stoull(number))};
  std::string text, before = "on x=2: reshard f32[8@x] -> f32[8]";
  for (int i = 0; i < 8; ++i)
    if (const Case c = draw_case(random); work_of(c) < 1 << 18) text += said(c);
  for (int i = 0; i < 60; ++i) {
    const std::string drawn = print(draw_case(random)), line = damage(random, drawn, before);
    text += fmt::format("{}\n{}\n", line, read(line)), before = drawn;
  }
  return text;
}

TEST(Words, SayWhatTheySaid) { expect_pinned(PLUMB_GOLDEN "/words.txt", numbered(200), block_of_lines); }

}  // namespace
}  // namespace plumb
