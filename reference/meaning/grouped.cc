#include <algorithm>

#include "reference/meaning/meaning.h"
#include "reference/meaning/product.h"
#include "reference/meaning/settle.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

// A dimension as it lies in memory: `outer` times `size` rows of `inner` bytes.
struct Along {
  std::int64_t outer, size, inner;
};
Along along(const Tensor& t, std::string_view letters, char letter) {
  const std::size_t d = letters.find(letter);
  Along a{1, t.shape[d], format(t.dtype).bytes};
  for (std::size_t i = 0; i < d; ++i) a.outer *= t.shape[i];
  for (std::size_t i = d + 1; i < t.shape.size(); ++i) a.inner *= t.shape[i];
  return a;
}

// The part of a term that lies in `runs` of one letter, joined.
Tensor take(const Lettered& term, char letter, const std::vector<Range>& runs) {
  const Along a = along(term.values, term.letters, letter);
  std::int64_t size = 0;
  for (const Range& run : runs) size += run.size();
  std::vector<std::int64_t> shape = term.values.shape;
  shape[term.letters.find(letter)] = size;
  Tensor taken = zeros(term.values.dtype, std::move(shape));
  std::byte* to = taken.bytes.data();
  for (std::int64_t o = 0; o < a.outer; ++o)
    for (const Range& run : runs)
      to = std::copy_n(term.values.bytes.data() + (o * a.size + run.begin) * a.inner, run.size() * a.inner,
                       to);
  return taken;
}

// The inverse for the leading dimension.
void put_rows(Tensor& whole, const std::vector<Range>& runs, const Tensor& part) {
  const std::int64_t inner = elements(whole.shape) / whole.shape[0] * format(whole.dtype).bytes;
  const std::byte* from = part.bytes.data();
  for (const Range& run : runs) {
    std::copy_n(from, run.size() * inner, whole.bytes.data() + run.begin * inner);
    from += run.size() * inner;
  }
}

}  // namespace

// Every group is a product of its own: of its rows and its weights, or of its rows and its rows.
Tensor grouped(const Case& c, const std::vector<Tensor>& operands) {
  const Grouped& op = std::get<Grouped>(c.op.kind);
  const bool wgrad = op.form == Form::wgrad;
  const Letters words = letters(c.op);
  const Factor a = factor(c, operands, 0), b = factor(c, operands, 1);
  const Lettered rows{a.values(), a.letters(words.operand[0])};
  const Lettered other{b.values(), b.letters(words.operand[1])};
  const Summed wanted{wgrad ? "kn" : words.out, c.acc, result(c).dtype};

  Tensor out = zeros(result(c).dtype, shape(result(c)));  // tail rows and empty groups stay zero
  const auto runs = group_rows(op, c.op.operands[0].dims[0].size);
  for (std::int64_t g = 0; g < static_cast<std::int64_t>(runs.size()); ++g) {
    const std::vector<Range> here{
        {g, g + 1}
    };
    const Tensor mine = take(rows, 't', runs[g]);
    const Tensor theirs = wgrad ? take(other, 't', runs[g]) : take(other, 'g', here);
    if (mine.bytes.empty() || theirs.bytes.empty() || out.bytes.empty()) continue;
    put_rows(out, wgrad ? here : runs[g], product({mine, rows.letters}, {theirs, other.letters}, wanted));
  }
  return out;
}

}  // namespace plumb
