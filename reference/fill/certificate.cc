#include "reference/fill/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "reference/fill/recipe.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Scope = Certificate::Scope;

std::string count_of(DType dtype) {
  const Format& f = format(dtype);
  return fmt::format("{} counts to 2^{}{}", f.name, f.digits, f.integer ? " - 1" : "");
}

// "f32 counts to 2^24, bf16 on the wire to 2^8"
std::string capacities(const Case& c) {
  const DType out = result(c).dtype;
  std::string text = fmt::format("acc {}, wire {}", count_of(c.acc), count_of(c.wire));
  if (out != c.wire) text += fmt::format(", result {}", count_of(out));
  return text;
}

std::string unit_text(const Unit& u) {
  if (u.factor == 1) return u.exponent == 0 ? "" : fmt::format(" of 2^{}", u.exponent);
  return u.exponent == 0 ? fmt::format(" of {}", u.factor)
                         : fmt::format(" of {} * 2^{}", u.factor, u.exponent);
}

Certificate no_unit() {
  return {Scope::none,
          "no value that the formats hold can be split evenly over so many parts: the bound judges"};
}

Certificate describe(const Case&, const Recipe& r, const Provenance& p) {
  const std::int64_t all = r.sources[0].elements * r.sources[0].parts;
  if (p.distinct)
    return {Scope::any_split,
            fmt::format("nothing is summed; {} with {} of {}: the chance that two have the same bits is 0",
                        counted(all, "element"), counted(all, "different pattern"), p.patterns.count)};
  return {Scope::any_split,
          fmt::format(
              "nothing is summed; {} with hashed patterns: the chance that two have the same bits is 1/{}",
              counted(all, "element"), p.patterns.count)};
}

Certificate describe(const Case& c, const Recipe&, const Normal&) {
  if (!sums(c.op)) return {Scope::any_split, "nothing is summed: normal data are moved bit by bit"};
  return c.fill == Fill::normal ? Certificate{Scope::none, "normal data round: the bound judges"} : no_unit();
}

Certificate describe(const Case& c, const Recipe&, const Wrapping&) {
  const int bits = 8 * format(result(c).dtype).bytes;
  return {Scope::any_split,
          fmt::format("any split: integers wrap: every sum is exact modulo 2^{}, {} bits in acc {} and {} in "
                      "wire {} hold it",
                      bits, 8 * format(c.acc).bytes, format(c.acc).name, 8 * format(c.wire).bytes,
                      format(c.wire).name)};
}

Certificate describe(const Case& c, const Recipe&, const Addends& a) {
  if (!a.unit.exists) return no_unit();
  const std::int64_t most = capacity({c.acc, c.wire, result(c).dtype}) / copies(c) / a.unit.factor;
  std::string text =
      fmt::format("any split: sum of {}, {} of them nonzero: sum |part| <= {} <= {} units{}; {}",
                  counted(a.shares.parts, "part"), a.shares.active, mass(a.shares), most, unit_text(a.unit),
                  capacities(c));
  if (const std::int64_t n = axes_size(c.mesh, c.op.operands[0].averaged); n > 1)
    text += fmt::format("; every part is a multiple of {}: so are their sums, and the mean is exact", n);
  if (const std::int64_t n = copies(c); n > 1)
    text += fmt::format("; a chain averages {} copies of a value: {} times it fits, too", n, n);
  return {Scope::any_split, std::move(text)};
}

Certificate describe(const Case& c, const Recipe& r, const Contest& all) {
  if (!all.unit.exists) return no_unit();
  const Format& f = format(r.sources[0].dtype);
  std::int64_t values = 2 * all.most * (1 + all.octaves) + all.beyond.value_or(0);
  if (f.integer) values = std::min(values, (std::int64_t{1} << 8 * f.bytes) >> all.unit.exponent);
  return {
      Scope::any_split,
      fmt::format("any split: the {} of {}, {} of which win somewhere; every part is one of {} "
                  "values{} that the formats hold; {}",
                  all.largest ? "largest" : "smallest", counted(all.parts, "part"),
                  std::min(all.parts, r.sources[0].elements), values, unit_text(all.unit), capacities(c))};
}

// The least that the parts of unfinished specs of the chain count to, where there are such: split otherwise
// than the operands, they need not be sums of blocks.
std::int64_t stored_parts(const Case& c) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Spec& spec : c.op.chain)
    if (parts(c.mesh, spec) > 1) least = std::min(least, capacity(spec.dtype));
  return least;
}

std::string fewer(const Shown& shown) {
  std::string text;
  for (const auto& [bits, of] : {
           std::pair(shown.operand[0], "the left operand"),
           {shown.operand[1], "the right operand"},
           {shown.sum,        "a sum"            }
  })
    if (bits > 1)
      text += fmt::format("{}{} of {}", text.empty() ? "; fewer bits than these show: " : ", ", bits, of);
  return text;
}

Certificate describe(const Case& c, const Recipe&, const Product& p) {
  const ProductBudget& w = p.budget;
  if (!w.exists) return no_unit();
  const std::int64_t f = w.unit.factor, acc = most_terms(c) / f, wire = std::min(acc, capacity(c.wire) / f);
  const std::int64_t sum = capacity({c.acc, c.wire, result(c).dtype}) / f;
  const std::int64_t blocks = *std::ranges::max_element(p.blocks_of_cell);
  const bool any = w.terms <= std::min(wire, stored_parts(c) / f);
  std::string text = fmt::format(
      "{} split: sum |a b| <= {} <= {} units{}; over {}, {} of them nonzero, sum |block| <= {} <= {}; "
      "{}",
      any ? "any" : "this", w.terms, any ? wire : acc, unit_text(w.unit), counted(blocks, "block"),
      w.active_blocks, w.carried, sum, capacities(c));
  if (w.active_pairs)
    text += fmt::format("; {} of a block nonzero in each column", counted(w.active_pairs, "pair"));
  Shown shown{
      {w.plain_bits, w.perturbed_bits},
      w.term_bits
  };
  if (p.perturbed == 0) std::swap(shown.operand[0], shown.operand[1]);
  const bool integer = format(c.acc).integer;
  return {any ? Scope::any_split : Scope::this_split, text + fewer(shown),
          integer ? std::nullopt : std::optional(shown)};
}

Certificate describe(const Case&, const Recipe&, const Tiled& t) {
  if (in_blocks(t.scheme))
    return {Scope::any_split,
            fmt::format("nothing is summed; {} of up to {} values: every value changes when it is quantized; "
                        "in each tile one value alone, drawn in it, makes the scale what it is",
                        counted(size(t.tiles), "tile"), kBlockSize)};
  const double most = format(codes_of(t.scheme)).largest;
  return {
      Scope::any_split,
      fmt::format("nothing is summed; {}: every value but the largest changes when it is quantized; {} "
                  "pieces of the layout have largest magnitudes that all differ; the tile's has another "
                  "scale of codes, in bits, as amax / {} or amax * (1 / {}); values beside ties tell value "
                  "* scale from value / (scale of codes), and from a product rounded to bf16",
                  counted(size(t.tiles), "tile"), t.differing, most, most)};
}

// A number that may be larger than an int64.
std::string number(__int128 n) {
  return n <= std::numeric_limits<std::int64_t>::max() ? fmt::format("{}", static_cast<std::int64_t>(n))
                                                       : fmt::format("{:.3g}", static_cast<double>(n));
}

// Where a sum is left unfinished its parts are stored in the dtype of the result, and split evenly.
Certificate describe(const Case& c, const Recipe&, const Coded& d) {
  const std::string data = fmt::format(
      "every tile changes when its operand is quantized, and has its scale from one value alone ({}); ",
      d.large < 15 ? "coarse: a scale too fine may go unseen in blocks" : "fine: any other scale is seen");
  const bool even = std::ranges::all_of(c.op.chain, [&](const Spec& spec) {
    return std::has_single_bit(static_cast<std::uint64_t>(parts(c.mesh, spec)));
  });
  const std::int64_t acc = capacity(c.acc), wire = std::min(acc, capacity(carried(c)));
  if (!even || d.terms > acc || (d.split && d.terms > wire))
    return {Scope::none,
            data + fmt::format("sum |a b| <= {} units, more than {}: the bound judges", number(d.terms),
                               even ? "the formats count to" : "parts share evenly")};
  const bool any = d.terms <= wire;
  return {any ? Scope::any_split : Scope::this_split,
          data + fmt::format("{} split: sum |a b| <= {} <= {} units; {}", any ? "any" : "this",
                             number(d.terms), any ? wire : acc, capacities(c))};
}

}  // namespace

bool shows_less(const Case& c, const Shown& shown) {
  const auto fewer_than = [&](int i) { return shown.operand[i] < format(c.op.operands[i].dtype).digits; };
  return fewer_than(0) || fewer_than(1);
}

Certificate certificate(const Case& c) {
  const Recipe r = recipe(c);
  if (c.fill == Fill::provenance && sums(c.op) && !wraps(c))
    return {Scope::none, "provenance data are not made to be summed: the bound judges"};
  return std::visit([&](const auto& data) { return describe(c, r, data); }, r.data);
}

}  // namespace plumb
