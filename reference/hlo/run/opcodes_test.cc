// Single operations of drawn shapes, attributes and data, against what XLA:CPU computed
// (scripts/dump-opcodes).
#include <gtest/gtest.h>

#include <map>

#include "reference/hlo/module/testing/dumps.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

// The modules of a text, one after the other.
std::vector<std::string> modules(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0, next; at < text.size(); at = next) {
    next = std::min(text.find("HloModule ", at + 1), text.size());
    all.push_back(text.substr(at, next - at));
  }
  return all;
}

using Held = Value<double>;

Held computed(const Module& module, std::vector<Held> arguments) {
  Reals reals;
  return evaluate(Machine<Reals>{module, reals, 1, {}}, entry(module), std::move(arguments), {});
}

bool equal(const Array<double>& a, const Array<double>& b) {
  Reals reals;
  return a.type == b.type && a.dims == b.dims && a.integers == b.integers &&
         std::ranges::equal(a.reals, b.reals, [&](double x, double y) { return reals.same(x, y); });
}

TEST(Opcodes, WhatXlaComputes) {
  const std::vector<std::string> texts =
      modules(read(std::filesystem::path(PLUMB_DUMPS) / "opcodes" / "opcodes.txt"));
  ASSERT_GT(texts.size(), 900u);
  std::map<std::string, int> met;
  for (std::size_t n = 0; n + 1 < texts.size(); n += 2) {
    const Module program = parse(texts[n], "opcodes.txt"), values = parse(texts[n + 1], "opcodes.txt");
    std::vector<Held> all = computed(values, {}).parts;
    const auto arguments = static_cast<std::ptrdiff_t>(entry(program).parameters.size());
    const std::vector<Held> results = results_of(computed(program, {all.begin(), all.begin() + arguments}));
    ASSERT_EQ(std::ssize(all) - arguments, std::ssize(results));
    for (std::size_t r = 0; r < results.size(); ++r)
      EXPECT_TRUE(equal(*results[r].array, *all[static_cast<std::size_t>(arguments) + r].array))
          << texts[n] << texts[n + 1];
    const Instruction& root = entry(program).instructions.back();
    ++met[std::string(row(root.opcode).name)];
  }
  EXPECT_GT(met.size(), 48u);
}

}  // namespace
}  // namespace plumb::hlo
