// What a rank says of a block that it proved where it lies, as a row of int64 in the arena.
#pragma once

#include <array>
#include <cstdint>

namespace plumb {

struct Proven {
  enum class Answer : std::uint8_t { unsaid, proved, refuted, unprovable };
  Answer answer = Answer::unsaid;
  // Of its bits by global index, by the seed of the proof; of a proved one of a case that is timed, of the
  // zeros with a sign alone: nothing else of it can differ.
  std::uint64_t digest = 0;
  std::uint64_t first = 0;  // the bits of its first element,
  bool alike = false;       // which all others have
};

using ProofRow = std::array<std::int64_t, 4>;
inline ProofRow row(const Proven& p) {
  return {static_cast<std::int64_t>(p.answer), static_cast<std::int64_t>(p.digest),
          static_cast<std::int64_t>(p.first), p.alike};
}
inline Proven proven(const ProofRow& r) {
  const bool said = 1 <= r[0] && r[0] <= 3;
  return {said ? static_cast<Proven::Answer>(r[0]) : Proven::Answer::unsaid, static_cast<std::uint64_t>(r[1]),
          static_cast<std::uint64_t>(r[2]), r[3] == 1};
}

}  // namespace plumb
