// Proofs in place: whether a block of a result, where it lies, is what its case wants. No operand is given:
// the recipe of the data says what every element is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reference/fill/recipe.h"

namespace plumb {

// The elements of a slice of a result, dense, where they lie.
struct InPlace {
  int result = 0;
  Slice slice;
  std::span<const std::byte> bytes;
};

struct Proof {
  enum class Answer : std::uint8_t { proved, refuted, unprovable };
  Answer answer = Answer::unprovable;
  std::string text;  // the law that proves it; what is wrong; or why there is no proof
  std::vector<std::int64_t>
      index{};                      // where it is refuted: a wrong element, by its index in the whole array,
  std::uint64_t want = 0, got = 0;  // and its bits
  bool signs = true;                // of one that is proved, whether a zero may have a sign
};

// A case made ready: its recipe is worked out once, however many blocks are proved.
struct Prover {
  Case c;
  Recipe data;
  std::string unprovable;  // why no block of the case can be proved where it lies; empty where each can
};
Prover prover(const Case&);

// Of a case whose result was left free, as it is claimed to lie: its data are those of what was asked.
Prover prover(Prover asked, const Case& claimed);

// The seed has to be drawn when the block is there: of a product every block but a right one is refuted by
// all seeds but one in 2^61 - 1, not each by every seed. Zeros are compared by value, but for what is only
// moved.
Proof prove(const Prover&, const InPlace&, std::uint64_t seed);

// The same of a block that lies elsewhere, by who reaches it (freivalds.h); and of a block of a product of
// which is known what it adds up to.
struct Ways;
struct Awaited;
Proof prove(const Prover&, const InPlace&, std::uint64_t seed, const Ways&);
Proof prove(const Prover&, const InPlace&, const Awaited&, const Ways&);

}  // namespace plumb
