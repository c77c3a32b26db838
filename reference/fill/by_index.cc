#include "reference/fill/by_index.h"

#include "reference/fill/at_index.h"
#include "reference/fill/emit.h"

namespace plumb {
namespace {

template <class At>
void emit_run(const Recipe& r, const At& at, const Run& run, std::byte* out) {
  emit(r.sources[run.operand].dtype, run.count, out,
       [at, part = run.part, begin = run.begin](std::int64_t i) { return at.value(part, begin + i); });
}

}  // namespace

// One element after the other of a permutation is one step further.
void write_run(const Recipe& r, const Provenance& p, const Run& run, std::byte* out) {
  const DType dtype = r.sources[run.operand].dtype;
  const int bytes = format(dtype).bytes;
  const ProvenanceAt at = drawn_at(r, p, run.operand);
  if (!p.distinct) {
    for (std::int64_t i = 0; i < run.count; ++i)
      store(dtype, out + i * bytes, at.bits(run.part, run.begin + i));
    return;
  }
  std::uint64_t n = permuted(p.order, static_cast<std::uint64_t>(run.part * at.elements + run.begin));
  for (std::int64_t i = 0; i < run.count; ++i, out += bytes) {
    store(dtype, out, pattern(p.patterns, n));
    const std::uint64_t left = p.order.count - n;
    n = p.order.step < left ? n + p.order.step : p.order.step - left;
  }
}

void write_run(const Recipe& r, const Normal& n, const Run& run, std::byte* out) {
  emit_run(r, drawn_at(r, n, run.operand), run, out);
}

void write_run(const Recipe& r, const Addends& a, const Run& run, std::byte* out) {
  emit_run(r, drawn_at(r, a, run.operand), run, out);
}

void write_run(const Recipe& r, const Contest& c, const Run& run, std::byte* out) {
  emit_run(r, drawn_at(r, c, run.operand), run, out);
}

void write_run(const Recipe& r, const Wrapping& w, const Run& run, std::byte* out) {
  emit_run(r, drawn_at(r, w, run.operand), run, out);
}

}  // namespace plumb
