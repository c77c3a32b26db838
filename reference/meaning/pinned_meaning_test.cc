// Law: a line of any data means what it meant, whatever bits they have. golden/meaning.txt has blocks of
// drawn lines, each block with a digest of the results.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "reference/exact/testing/hard_inputs.h"
#include "reference/fill/fill.h"
#include "reference/meaning/meaning.h"
#include "reference/meaning/resolve.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"

namespace plumb {
namespace {

std::string said(const Tensor& t) {
  std::string text = fmt::format("{}[{}]", format(t.dtype).name, fmt::join(t.shape, ","));
  const std::int64_t n = elements(t.shape);
  std::uint64_t all = fnv("");
  for (std::int64_t i = 0; i < n; ++i) {
    // What stands in a NaN is nobody's promise.
    const std::string one = std::isnan(value(t, i)) ? "nan" : fmt::format("{:x}", bits(t, i));
    all = fnv(one, all);
    if (i < 8) text += " " + one;
  }
  return fmt::format("{} {:x}", text, all);
}

// Some elements are zeros, infinite or none at all.
Tensor hard_operand(Random& random, const Case& c, int i) {
  const Spec& spec = c.op.operands[i];
  std::vector<std::int64_t> sizes = shape(spec);
  if (!spec.unfinished.empty()) sizes.insert(sizes.begin(), parts(c.mesh, spec));
  Tensor t = hard_tensor(random.of(kHard), spec.dtype, sizes, random.bits());
  if (random.one_in(3))
    for (std::int64_t n = elements(t.shape) / 8; n > 0; --n)
      store(t.dtype, t.bytes.data() + random.below(elements(t.shape)) * format(t.dtype).bytes,
            encode(t.dtype, random.of(std::vector<double>{0.0, -0.0, 1.0, INFINITY, -INFINITY, NAN})));
  return t;
}

std::string said(Random& random, const Case& c) {
  std::string text = print(c) + "\n";
  std::vector<Tensor> operands;
  for (int i = 0; i < std::ssize(c.op.operands); ++i)
    operands.push_back(quantizes(c.op) && random.one_in(2) ? fill(c, i) : hard_operand(random, c, i));
  for (const Tensor& result : evaluate_all(c, operands)) text += "  " + said(result) + "\n";
  if (is_quantize(c)) return text;
  const Plain as = plain(c, operands);
  for (const Tensor& operand : as.operands) text += "  " + said(operand) + "\n";
  if (result(c).free) return text;
  const Spec whole = finished(result(c));
  const Tensor out = evaluate(as.c, as.operands);
  EXPECT_EQ(assemble(c.mesh, whole, c.rule, shard(c.mesh, whole, c.rule, out)), out) << print(c);
  return text;
}

std::string said(const Resolved& r, const Mesh& mesh) {
  std::string text = r.spec ? print(mesh, *r.spec) : r.error;
  for (const Tried& t : r.tried)
    text += fmt::format(" {}:{}:{}:{}", static_cast<int>(t.what), t.rule, t.dim, t.axis);
  return text + "\n";
}

std::string block_of_lines(const std::string& number) {
  Random random{std::mt19937_64(std::stoull(number))};
  std::string text;
  for (int i = 0; i < 10; ++i) text += said(random, draw_to_run(random));
  for (int i = 0; i < 4; ++i) {
    Case c;
    c.mesh = draw_mesh(random), c.op = draw_resolve(random);
    text += print(c) + "\n" + said(resolved(c), c.mesh);
    for (int n = 0; n < 6; ++n) {
      const Policy& policy = random.of(other_policies());
      text += policy_in_words(policy) + ": " + said(resolved(c, policy), c.mesh);
    }
  }
  return text;
}

TEST(Meaning, IsWhatItWas) { expect_pinned(PLUMB_GOLDEN "/meaning.txt", numbered(300), block_of_lines); }

}  // namespace
}  // namespace plumb
