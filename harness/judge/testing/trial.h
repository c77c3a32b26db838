// A case with an honest answer, for the tests of the judge.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "harness/judge/blocks.h"
#include "harness/judge/judge.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {

// A case with the answer that an honest backend would give, to be spoiled by each test.
struct Trial {
  Case c;
  std::vector<Tensor> operands;
  Tensor whole;
  Certificate proof;
  Outcome outcome;
  std::vector<std::vector<std::byte>> memory;  // one block per device; Block::offset is its index
  Declared declared;

  explicit Trial(const std::string& line) : c(parse_case(line)) {
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
    whole = evaluate(c, operands);
    proof = certificate(c);
    const int size = format(whole.dtype).bytes;
    for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
      const Slice slice = block(c.mesh, result(c), c.rule, device);
      std::vector<std::byte>& bytes = memory.emplace_back(elements(slice) * size);
      // Of a sum the first part is the value and the others are zero; of a mean, a maximum or a minimum all
      // are the value.
      std::vector<AxisId> summed;
      for (AxisId axis : result(c).unfinished)
        if (result(c).reduction == Reduce::sum && std::ranges::count(result(c).averaged, axis) == 0)
          summed.push_back(axis);
      if (coordinate(c.mesh, summed, device) == 0)
        cut(whole.shape, slice, whole.bytes.data(), bytes.data(), size);
      Block b{device, 0, static_cast<std::uint64_t>(device), bytes.size(), std::nullopt};
      if (parts(c.mesh, result(c)) == 1) {
        b.claim.emplace();
        for (const Range& range : slice) b.claim->push_back({range});
      }
      outcome.blocks.push_back(std::move(b));
    }
    outcome.claims = {print(c.mesh, result(c))};
  }

  void read(const Block& block, std::span<std::byte> into) const {
    std::memcpy(into.data(), memory[block.offset].data(), into.size());
  }
  Verdict verdict() const {
    return judge(Wanted{c, operands, whole, proof}, outcome, std::bind_front(&Trial::read, this), declared);
  }
  std::uint64_t bits_digest() const {
    return digest_of_blocks(outcome, masked(c, std::bind_front(&Trial::read, this), declared));
  }

  template <class T>
  T& element(std::int64_t device, std::int64_t i) {
    return *reinterpret_cast<T*>(memory[device].data() + i * sizeof(T));
  }
};

}  // namespace plumb
