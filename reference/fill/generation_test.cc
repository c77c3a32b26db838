// Law: the data of a line are those of their generation. golden/generation_5.txt has 2,000 lines over the
// whole grammar, each with a digest of its operands' bits and one of its certificate. Where a digest of bits
// differs, records of today and of before rest on other data: data_generation is one more, and the file
// another.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference/fill/fill.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

const std::string golden = fmt::format(PLUMB_GOLDEN "/generation_{}.txt", data_generation);

constexpr std::size_t digits = 26;  // of both digests, and a blank after each

Today today(const std::string& row) {
  const std::string line = row.substr(digits);
  const Case c = parse_case(line);
  std::uint64_t data = fnv("");
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    const Tensor whole = fill(c, static_cast<int>(i));
    data = fnv({reinterpret_cast<const char*>(whole.bytes.data()), whole.bytes.size()}, data);
  }
  const Certificate proof = certificate(c);
  const Shown shown = proof.shown.value_or(Shown{});
  const std::string said =
      fmt::format("{} {} {} {} {} {}", static_cast<int>(proof.scope), proof.shown.has_value(),
                  shown.operand[0], shown.operand[1], shown.sum, proof.text);
  return {fmt::format("{:016x} {:08x} {}", data, fnv(said) >> 32, line), said};
}

std::vector<std::string> drawn() {
  std::vector<std::string> rows;
  Random random{std::mt19937_64(2)};
  for (int i = 0; i < 2000; ++i) rows.push_back(std::string(digits, ' ') + print(draw_to_run(random)));
  return rows;
}

TEST(Fill, DataAreThoseOfTheirGeneration) {
  ASSERT_NO_FATAL_FAILURE(expect_rows(golden, drawn, today));
  EXPECT_GE(pinned_rows(golden).size(), 2000u);
}

}  // namespace
}  // namespace plumb
