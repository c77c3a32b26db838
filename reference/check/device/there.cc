#include "reference/check/device/there.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <new>

#include "reference/check/closed_form.h"
#include "reference/check/device/kept_memory.h"
#include "reference/check/digest.h"

namespace plumb {
namespace {

constexpr std::int64_t kWritten = 1 << 24;  // elements of an operand that are written at once
constexpr std::int64_t kThreads = 1 << 18;  // pieces of sums that keep a card busy
constexpr std::int64_t kPartial = 1 << 22;  // words of pieces at once, unless there are more sums

// A table there.
template <class Row>
struct Laid {
  There memory;
  Laid(const DeviceMemory& m, const std::vector<Row>& rows)
      : memory(m, std::ssize(rows) * std::int64_t{sizeof(Row)}) {
    m.put(memory.at, reinterpret_cast<const std::byte*>(rows.data()), rows.size() * sizeof(Row));
  }
  const Row* at() const { return reinterpret_cast<const Row*>(memory.at); }
};

std::vector<std::byte> brought(const DeviceCheck& there, std::span<const std::byte> bytes) {
  std::vector<std::byte> here(bytes.size());
  there.memory.get(here.data(), bytes.data(), bytes.size());
  return here;
}

// Dimensions over which is summed that lie one within the other are one; those of size 1 are none.
void add_dim(std::vector<WeighedDim>& dims, const WeighedDim& dim, bool joins) {
  if (dim.size == 1) return;
  if (joins && !dims.empty()) {
    WeighedDim& last = dims.back();
    if (last.step == dim.size * dim.step && last.weight == dim.size * dim.weight) {
      last = {last.size * dim.size, dim.step, 0, dim.weight};
      return;
    }
  }
  dims.push_back(dim);
}

// How many neighbours a piece may take at once: the elements and the weights of every sum begin at a word of
// 16 bytes if the first do.
int run_taken(const Weighed& w) {
  const int run = run_of(w.dtype);
  if (w.beside || w.dims == w.kept || w.inner % run != 0) return 1;
  const WeighedDim& last = w.dim[w.dims - 1];
  const auto whole = [&](const WeighedDim& dim) { return dim.step % run == 0 && dim.weight % 2 == 0; };
  return last.step == 1 && last.weight == 1 && std::all_of(w.dim, w.dim + w.dims - 1, whole) ? run : 1;
}

// How many pieces a sum has: on a card neighbours should read neighbours, and all should have something to
// do.
std::int64_t pieces_of(const Weighed& w, int lanes) {
  const std::int64_t busy = kThreads * (w.abreast() ? Weighed::kAbreast : 1) / w.sums;
  const std::int64_t wanted = w.beside ? std::min(busy, w.inner / 64)
                              : w.run > 1
                                  ? std::min(std::clamp<std::int64_t>(busy, 32, 256), w.inner / w.run / 8)
                                  : std::min<std::int64_t>(256, w.inner / 8);
  return std::max<std::int64_t>(1, std::min(wanted, kPartial / (w.sums * lanes)));
}

// A part of a slice of elements as kernels see it.
Weighed weighed(const Weighing& w, const Slice& part, DType dtype, int lanes) {
  std::vector<WeighedDim> kept, over;
  std::int64_t step = 1;
  std::vector<WeighedDim> dims(part.size());
  for (std::size_t d = part.size(); d-- > 0; step *= part[d].size())
    dims[d] = {part[d].size(), step, w.sum_steps[d], w.weight_steps[d]};
  for (const WeighedDim& dim : dims) add_dim(dim.sum != 0 ? kept : over, dim, dim.sum == 0);
  Weighed all;
  all.dtype = dtype;
  all.kept = static_cast<int>(kept.size()), all.dims = static_cast<int>(kept.size() + over.size());
  std::ranges::copy(over, std::ranges::copy(kept, all.dim).out);
  for (const WeighedDim& dim : kept) all.sums *= dim.size;
  for (const WeighedDim& dim : over) all.outer *= dim.size;
  if (!over.empty()) all.inner = over.back().size, all.outer /= std::max<std::int64_t>(1, all.inner);
  all.beside = !kept.empty() && kept.back().step == 1;
  all.run = run_taken(all);
  all.pieces = pieces_of(all, lanes);
  return all;
}

std::int64_t begin_of(const Slice& part, const Slice& slice, const std::vector<std::int64_t>& steps) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < slice.size(); ++d) at += (part[d].begin - slice[d].begin) * steps[d];
  return at;
}

// Weights and sums as words of the device's memory, each with its lanes.
template <class Ring>
struct Lanes {
  using Weights = std::vector<typename Ring::Weight>;
  static constexpr int count = std::is_same_v<Ring, WordLanes> ? WordSum::lanes : PrimeSum::lanes;

  static void put(const DeviceCheck& there, const Weights& from, std::uint64_t* to) {
    const auto put_all = [&](const auto& words) {
      there.memory.put(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(words.data()),
                       words.size() * sizeof words[0]);
    };
    if constexpr (count == 1) return put_all(from);
    if constexpr (count > 1) {
      std::vector<std::uint64_t> words;
      for (const auto& weight : from) words.insert(words.end(), weight.begin(), weight.end());
      put_all(words);
    }
  }
  static std::vector<std::uint64_t> get(const DeviceCheck& there, const std::uint64_t* from,
                                        std::int64_t sums) {
    std::vector<std::uint64_t> words(sums * count);
    there.memory.get(reinterpret_cast<std::byte*>(words.data()), reinterpret_cast<const std::byte*>(from),
                     words.size() * sizeof words[0]);
    return words;
  }
  static Weights weights(const std::vector<std::uint64_t>& words) {
    Weights all(words.size() / count);
    for (std::size_t i = 0; i < words.size(); ++i)
      if constexpr (count > 1)
        all[i / count][i % count] = static_cast<std::uint32_t>(words[i]);
      else
        all[i] = static_cast<std::int64_t>(words[i] & ~kSigned);
    return all;
  }
};

// One array being weighed: its weights and its sums are there.
template <class Ring>
struct OnDevice {
  static constexpr int lanes = Lanes<Ring>::count;
  const DeviceCheck& there;
  const Weighing& w;
  std::int64_t sums = w.sums;
  There weights, all;

  OnDevice(const DeviceCheck& d, const Weighing& weighing, const std::vector<typename Ring::Weight>& from)
      : there(d),
        w(weighing),
        weights(d.memory, std::ssize(from) * lanes * 8),
        all(d.memory, weighing.sums * lanes * 8) {
    Lanes<Ring>::put(there, from, weights.words());
    there.memory.set(all.at, 0, static_cast<std::size_t>(sums * lanes * 8));
  }
  void add(const Slice& part, const std::byte* box, DType dtype, double scale) {
    Weighed here = weighed(w, part, dtype, lanes);
    here.scale = scale;
    const There partial(there.memory, here.sums * here.pieces * lanes * 8);
    const std::uint64_t* first = weights.words() + begin_of(part, w.slice, w.weight_steps) * lanes;
    (lanes > 1 ? there.weigh_words : there.weigh)(here, box, first, partial.words(),
                                                  all.words() + begin_of(part, w.slice, w.sum_steps) * lanes);
  }
  std::vector<std::uint64_t> words() const { return Lanes<Ring>::get(there, all.words(), sums); }
};

template <class Ring>
std::vector<typename Ring::Weight> weigh_operand_there(const DeviceCheck& there, const Prover& p, int operand,
                                                       const Weighing& w,
                                                       const std::vector<typename Ring::Weight>& weights) {
  const Source& source = p.data.sources[operand];
  const double scale = std::ldexp(1.0, -unit_exponent(p.data, operand));
  const std::int64_t most = std::min(elements(w.slice), kWritten);
  const There written(there.memory, most * format(source.dtype).bytes);
  OnDevice<Ring> on(there, w, weights);
  for (std::int64_t part = 0; part < source.parts; ++part)
    each_chunk(w.slice, kWritten, [&](const Slice& slice, std::int64_t) {
      write_there(there, p.data, {operand, part, slice}, written.at);
      on.add(slice, written.at, source.dtype, scale);
    });
  return Lanes<Ring>::weights(on.words());
}

// Where an element is no integer is looked for only once a sum has said so.
template <class Ring>
BlockSums<Ring> weigh_held_there(const DeviceCheck& there, const Prover& p, const InPlace& block,
                                 const Weighing& w, const std::vector<typename Ring::Weight>& weights) {
  const DType dtype = result(p.c).dtype;
  const double scale = std::ldexp(1.0, -unit_exponent(p.data, 2));
  OnDevice<Ring> on(there, w, weights);
  each_chunk(w.slice, elements(w.slice), [&](const Slice& slice, std::int64_t from) {
    on.add(slice, block.bytes.data() + from * format(dtype).bytes, dtype, scale);
  });
  const std::vector<std::uint64_t> words = on.words();
  if (std::ranges::find(words, kNoSum) != words.end())
    return {{}, there.first_unwhole(dtype, scale, elements(w.slice), block.bytes.data())};
  const bool signs = std::ranges::any_of(words, [](std::uint64_t word) { return (word & kSigned) != 0; });
  return {Lanes<Ring>::weights(words), std::nullopt, signs};
}

template <class Ring>
Weigher<Ring> weigher_there(const DeviceCheck& there, const Prover& p) {
  using Weights = std::vector<typename Ring::Weight>;
  return {[&](int operand, const Weighing& w, const Weights& weights) {
            return weigh_operand_there<Ring>(there, p, operand, w, weights);
          },
          [&](const InPlace& block, const Weighing& w, const Weights& weights) {
            return weigh_held_there<Ring>(there, p, block, w, weights);
          },
          [&](const InPlace& block, std::int64_t element) {
            return bits_there(there, result(p.c).dtype, block.bytes.data(), element);
          }};
}

// Looks for a wrong element once it is known that there is one.
Proof prove_elements_there(const DeviceCheck& there, const Prover& p, const InPlace& block) {
  const std::optional<MadeOf> what = made(p);
  if (!what) {
    const std::vector<std::byte> here = brought(there, block.bytes);
    return prove_elements(p, {block.result, block.slice, here});
  }
  const Cutout cut = cutout(shape(result(p.c)), block.slice);
  if (there.wrong(*what, cut, block.bytes.data()) == 0) return elements_proved(block);
  const std::int64_t at = there.first_wrong(*what, cut, block.bytes.data());
  const std::vector<std::int64_t> index = index_in(block.slice, at);
  Slice one;
  for (std::int64_t i : index) one.push_back({i, i + 1});
  return refuted(p, index, load(what->dtype, wanted_elements(p, one).data()),
                 bits_there(there, what->dtype, block.bytes.data(), at));
}

Ways ways_there(const DeviceCheck& there, const Prover& p) {
  return {[&](const Prover& made, const InPlace& one) { return prove_elements_there(there, made, one); },
          weigher_there<PrimeField>(there, p), weigher_there<WordLanes>(there, p)};
}

Proof no_memory() { return {Proof::Answer::unprovable, "the device has no memory left for a proof"}; }

bool has_kernels(const Slice& slice) { return std::ssize(slice) <= Cutout::kMost; }

// By a kernel, or where it does not know so many dimensions by this processor.
template <auto by_kernel, auto here>
std::uint64_t digested(const DeviceCheck& there, const Prover& p, const InPlace& block, std::uint64_t seed) {
  const Spec& spec = results(p.c)[block.result];
  if (has_kernels(block.slice))
    return (there.*by_kernel)(spec.dtype, cutout(shape(spec), block.slice), block.bytes.data(), seed);
  return here(spec.dtype, shape(spec), block.slice, brought(there, block.bytes), seed);
}

}  // namespace

void write_there(const DeviceCheck& there, const Recipe& r, const Portion& portion, std::byte* out) {
  const Source& source = r.sources[portion.operand];
  const std::optional<AtIndex> data = drawn_at(r, portion.operand);
  if (data && has_kernels(portion.slice))
    return there.write(*data, source.dtype, portion.part, cutout(source.shape, portion.slice), out);
  const std::int64_t n = elements(portion.slice);
  if (const auto tables = n > 0 ? product_tables(r, portion) : std::nullopt) {
    const Laid numbers(there.memory, tables->numbers);
    const Laid stretches(there.memory, tables->stretches);
    const Laid matchings(there.memory, tables->matchings);
    there.write_product(tables->lying(numbers.at(), stretches.at(), matchings.at()), source.dtype, n, out);
    return there.memory.wait();  // the tables are about to go
  }
  std::vector<std::byte> here(n * format(source.dtype).bytes);
  write(r, portion, here.data());
  there.memory.put(out, here.data(), here.size());
}

Proof prove_there(const DeviceCheck& there, const Prover& p, const InPlace& block, std::uint64_t seed) try {
  if (has_kernels(block.slice)) return prove(p, block, seed, ways_there(there, p));
  const std::vector<std::byte> here = brought(there, block.bytes);
  return prove(p, {block.result, block.slice, here}, seed);
} catch (const std::bad_alloc&) {
  return no_memory();
}

Proof prove_there(const DeviceCheck& there, const Prover& p, const InPlace& block,
                  const Awaited& wanted) try {
  return prove(p, block, wanted, ways_there(there, p));
} catch (const std::bad_alloc&) {
  return no_memory();
}

Awaited awaited_there(const DeviceCheck& there, const Prover& p, const Slice& slice, std::uint64_t seed) {
  return awaited(p, slice, seed, ways_there(there, p));
}

std::uint64_t digest_there(const DeviceCheck& there, const Prover& p, const InPlace& block,
                           std::uint64_t seed) {
  return digested<&DeviceCheck::digest, digest_of>(there, p, block, seed);
}

std::uint64_t digest_signs_there(const DeviceCheck& there, const Prover& p, const InPlace& block,
                                 std::uint64_t seed) {
  return digested<&DeviceCheck::digest_signs, digest_of_signs>(there, p, block, seed);
}

std::uint64_t bits_there(const DeviceCheck& there, DType dtype, const std::byte* block,
                         std::int64_t element) {
  const int width = format(dtype).bytes;
  std::byte bits[8];
  there.memory.get(bits, block + element * width, width);
  return load(dtype, bits);
}

}  // namespace plumb
