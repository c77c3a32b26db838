// Law: what is proved of a block, and refuted, stays what it is. golden/proofs.txt has blocks of drawn lines,
// each with a digest of what is said of right blocks and of wrong ones.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "reference/check/check.h"
#include "reference/check/digest.h"
#include "reference/check/factors.h"
#include "reference/fill/fill.h"
#include "reference/meaning/meaning.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"

namespace plumb {
namespace {

std::string said(const Proof& p) {
  return fmt::format("{} {} [{}] {:x} {:x}\n", static_cast<int>(p.answer), p.text, fmt::join(p.index, ","),
                     p.want, p.got);
}

std::string said(const Case& c, const Slice& block) {
  std::string text;
  if (c.op.operands.size() != 2 || quantizes(c.op)) return text;
  const Parts parts = parts_of(c.op);
  text += fmt::format("  {} {} {} {}\n", parts.batch, parts.rows, parts.columns, parts.summed);
  for (const Factors& f : factors_of(c, block)) {
    text += "  " + print(f.out);
    for (const auto& pair : f.pairs) text += " " + print(pair[0]) + print(pair[1]);
    text += "\n";
  }
  return text;
}

std::string said(Random& random, const Case& c) {
  std::string text = print(c) + "\n";
  const Prover made = prover(c);
  if (!made.unprovable.empty()) return text + made.unprovable + "\n";
  std::vector<Tensor> operands;
  for (int i = 0; i < std::ssize(c.op.operands); ++i) operands.push_back(fill(c, i));
  const std::vector<Tensor> wholes = evaluate_all(c, operands);
  for (std::size_t r = 0; r < wholes.size(); ++r) {
    const Spec& spec = results(c)[r];
    const Tensor& whole = wholes[r];
    const int size = format(whole.dtype).bytes;
    const Slice asked = block(c.mesh, finished(spec), c.rule, random.below(devices(c.mesh)));
    std::vector<std::byte> bytes(elements(asked) * size);
    cut(whole.shape, asked, whole.bytes.data(), bytes.data(), size);
    const auto proof = [&] { return prove(made, {static_cast<int>(r), asked, bytes}, 7); };
    const Proof right = proof();
    EXPECT_NE(right.answer, Proof::Answer::refuted) << print(c) << right.text;
    text += said(c, asked) + said(right) +
            fmt::format("{:x}\n", digest_of(whole.dtype, whole.shape, asked, bytes, 5));
    for (int n = 0; n < 3 && !bytes.empty(); ++n) {
      const std::vector<std::byte> before = bytes;
      bytes[random.below(std::ssize(bytes))] ^= std::byte{1} << random.below(8);
      text += said(proof()), bytes = before;
    }
  }
  return text;
}

std::string block_of_lines(const std::string& number) {
  Random random{std::mt19937_64(std::stoull(number))};
  std::string text;
  for (int i = 0; i < 12; ++i) text += said(random, draw_to_run(random));
  return text;
}

TEST(Check, SaysOfBlocksWhatItSaid) {
  expect_pinned(PLUMB_GOLDEN "/proofs.txt", numbered(300), block_of_lines);
}

}  // namespace
}  // namespace plumb
