#include "reference/check/closed_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "reference/fill/fill.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

bool is_zero(DType dtype, std::uint64_t bits) { return dtype != DType::e8m0 && decode(dtype, bits) == 0; }

std::string index_text(const std::vector<std::int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

std::string bits_text(DType dtype, std::uint64_t bits) {
  return fmt::format("{} (0x{:0{}x})", decode(dtype, bits), bits, 2 * format(dtype).bytes);
}

// Where moved bits came from, if one element alone has them.
std::string origin_text(const Prover& p, std::uint64_t bits) {
  std::int64_t at = origin(p.c, bits);
  if (at < 0) return "";
  std::vector<std::int64_t> index(p.data.sources[0].shape);
  for (std::size_t d = index.size(); d-- > 0;) {
    const std::int64_t size = index[d];
    index[d] = at % size, at /= size;
  }
  return ", which is the element " + index_text(index);
}

// What the parts before make with one more.
void combine(Reduce reduction, const std::vector<double>& part, std::vector<double>& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = reduction == Reduce::sum   ? all[i] + part[i]
             : reduction == Reduce::max ? std::max(all[i], part[i])
                                        : std::min(all[i], part[i]);
}

}  // namespace

std::vector<std::int64_t> index_in(const Slice& slice, std::int64_t element) {
  std::vector<std::int64_t> index(slice.size());
  for (std::size_t d = slice.size(); d-- > 0; element /= slice[d].size())
    index[d] = slice[d].begin + element % slice[d].size();
  return index;
}

bool same_element(const Case& c, std::uint64_t want, std::uint64_t got) {
  if (want == got) return true;
  const DType dtype = result(c).dtype;
  const bool signs = !sums(c.op) && c.fill == Fill::provenance;
  return !signs && is_zero(dtype, want) && is_zero(dtype, got);
}

Proof refuted(const Prover& p, std::vector<std::int64_t> index, std::uint64_t want, std::uint64_t got) {
  const DType dtype = result(p.c).dtype;
  std::string text = fmt::format("at {}: want {}, got {}{}", index_text(index), bits_text(dtype, want),
                                 bits_text(dtype, got), is_reshard(p.c) ? origin_text(p, got) : "");
  return {Proof::Answer::refuted, std::move(text), std::move(index), want, got};
}

// The data are exact: no sum of their parts needs more digits than double has, and a mean divides evenly.
std::vector<std::byte> wanted_elements(const Prover& p, const Slice& slice) {
  const Spec& from = p.c.op.operands[0];
  const Source& source = p.data.sources[0];
  const std::int64_t n = elements(slice);
  std::vector<std::byte> wanted(n * format(source.dtype).bytes);
  write(p.data, {0, 0, slice}, wanted.data());
  if (source.parts == 1) return wanted;
  std::vector<double> all(n), part(n);
  decode(source.dtype, wanted.data(), n, all.data());
  for (std::int64_t i = 1; i < source.parts; ++i) {
    write(p.data, {0, i, slice}, wanted.data());
    decode(source.dtype, wanted.data(), n, part.data());
    combine(from.reduction, part, all);
  }
  const auto divisor = static_cast<double>(axes_size(p.c.mesh, from.averaged));
  for (double& value : all) value /= divisor;
  encode(source.dtype, all.data(), n, wanted.data());
  return wanted;
}

Proof elements_proved(const InPlace& block) {
  return {Proof::Answer::proved,
          fmt::format("{} compared, each with what the recipe gives: nothing is left to chance",
                      counted(elements(block.slice), "element"))};
}

Proof prove_elements(const Prover& p, const InPlace& block) {
  const DType dtype = result(p.c).dtype;
  const int size = format(dtype).bytes;
  Proof proof = elements_proved(block);
  each_chunk(block.slice, kChunk, [&](const Slice& part, std::int64_t from) {
    if (proof.answer == Proof::Answer::refuted) return;
    const std::vector<std::byte> wanted = wanted_elements(p, part);
    const std::byte* got = block.bytes.data() + from * size;
    if (std::memcmp(wanted.data(), got, wanted.size()) == 0) return;
    for (std::int64_t i = 0; i < elements(part); ++i) {
      const std::uint64_t w = load(dtype, wanted.data() + i * size), g = load(dtype, got + i * size);
      if (!same_element(p.c, w, g)) {
        proof = refuted(p, index_in(part, i), w, g);
        return;
      }
    }
  });
  return proof;
}

}  // namespace plumb
