// Law: the data of a line are those of their generation. golden/generation_2.txt has 2,000 lines over the
// whole grammar, each with a digest of its operands' bits and one of its certificate. Where a digest of bits
// differs, records of today and of before rest on other data: data_generation is one more, and the file
// another.
//
// PLUMB_UPDATE_GOLDEN=1 writes the file anew: the lines that it has, or lines drawn where there is none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "reference/fill/fill.h"
#include "reference/words/fnv.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

const std::string golden = fmt::format(PLUMB_GOLDEN "/generation_{}.txt", data_generation);

std::string row_of(const std::string& line) {
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
  return fmt::format("{:016x} {:08x} {}", data, fnv(said) >> 32, line);
}

std::vector<std::string> rows() {
  std::vector<std::string> found;
  std::ifstream in(golden);
  for (std::string row; std::getline(in, row);) found.push_back(row);
  if (!found.empty() || !std::getenv("PLUMB_UPDATE_GOLDEN")) return found;
  Random random{std::mt19937_64(2)};
  for (int i = 0; i < 2000; ++i) found.push_back(row_of(print(draw_to_run(random))));
  return found;
}

TEST(Fill, DataAreThoseOfTheirGeneration) {
  const std::vector<std::string> pinned = rows();
  ASSERT_GE(pinned.size(), 2000u);
  const bool anew = std::getenv("PLUMB_UPDATE_GOLDEN");
  std::string today;
  for (const std::string& row : pinned) {
    const std::string is = row_of(row.substr(26));
    if (!anew) {
      EXPECT_EQ(is, row);
    }
    today += is + "\n";
  }
  if (anew) std::ofstream(golden) << today;
}

}  // namespace
}  // namespace plumb
