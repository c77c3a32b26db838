#include "reference/fill/at_index.h"

namespace plumb {
namespace {

std::uint64_t of_elements(const Recipe& r, int operand) { return key(r.seed, operand, kElement); }
std::uint64_t of_parts(const Recipe& r, int operand) { return key(r.seed, operand, kPart); }
double size_of(const Unit& unit) { return std::ldexp(static_cast<double>(unit.factor), unit.exponent); }

}  // namespace

ProvenanceAt drawn_at(const Recipe& r, const Provenance& p, int operand) {
  return {p, of_elements(r, operand), r.sources[operand].elements};
}

NormalAt drawn_at(const Recipe& r, const Normal&, int operand) {
  return {of_elements(r, operand), r.sources[operand].elements};
}

AddendsAt drawn_at(const Recipe& r, const Addends& a, int operand) {
  return {a.shares, size_of(a.unit), of_elements(r, operand), of_parts(r, operand)};
}

ContestAt drawn_at(const Recipe& r, const Contest& c, int operand) {
  return {c.parts,
          c.most,
          c.octaves,
          c.beyond.value_or(-1),
          size_of(c.unit) * (c.largest ? 1 : -1),
          of_elements(r, operand),
          of_parts(r, operand),
          key(r.seed, operand, kWinner)};
}

WrappingAt drawn_at(const Recipe& r, const Wrapping& w, int operand) {
  const Wrapping::Operand& o = w.operand[operand];
  const int width = 8 * format(r.sources[operand].dtype).bytes;
  return {o, of_elements(r, operand), of_parts(r, operand), (std::int64_t{1} << (width - o.shift)) - 1};
}

std::optional<AtIndex> drawn_at(const Recipe& r, int operand) {
  return std::visit(
      [&](const auto& data) -> std::optional<AtIndex> {
        if constexpr (requires { drawn_at(r, data, operand); }) return drawn_at(r, data, operand);
        return std::nullopt;
      },
      r.data);
}

}  // namespace plumb
