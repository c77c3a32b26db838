#include "reference/exact/lines.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>

#include "reference/exact/lanes.h"

namespace plumb {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int64_t kTile = 64;

constexpr std::int64_t kFractionBits = (1ll << 52) - 1;

constexpr std::int64_t kExponent = 0x7ffll << 52;

// The least over what is not zero of the lowest set bit, as a power of two: the lowest bit of the
// fraction, or the leading one where the fraction is zero. Of normal doubles.
PLUMB_CLONES double unit_of(const double* row, std::int64_t count) {
  Lanes unit = Lanes{} + kInf;
  for (std::int64_t k = 0; k < count; k += 8) {
    Lanes x;
    read(x, row + k);
    const Words bits = (Words)x, fraction = bits & kFractionBits, leading = bits & kExponent;
    const Lanes low = (Lanes)(leading | (fraction & -fraction)) - (Lanes)leading;
    const Lanes lowest = x == 0 ? Lanes{} + kInf : low == 0 ? (Lanes)leading : low;
    unit = lowest < unit ? lowest : unit;
  }
  double least = kInf;
  for (int l = 0; l < 8; ++l) least = std::min(least, unit[l]);
  return least;
}

// The sum of squares; the least magnitude but zero, its fraction dropped; all fractions or-ed.
struct Facts {
  double squares, least;
  std::uint64_t fractions;
};

PLUMB_CLONES Facts facts_of(const double* row, std::int64_t count) {
  Lanes squares = Lanes{}, least = Lanes{} + kInf;
  Words fractions = Words{};
  for (std::int64_t k = 0; k < count; k += 8) {
    Lanes x;
    read(x, row + k);
    const Lanes leading = (Lanes)((Words)x & kExponent), magnitude = x == 0 ? Lanes{} + kInf : leading;
    squares += x * x;
    fractions |= (Words)x;
    least = magnitude < least ? magnitude : least;
  }
  Facts f{0, kInf, 0};
  for (int l = 0; l < 8; ++l) {
    f.squares += squares[l];
    f.least = std::min(f.least, least[l]);
    f.fractions |= static_cast<std::uint64_t>(fractions[l]) & kFractionBits;
  }
  return f;
}

// The unit is first bounded by the least exponent and the lowest bit of any fraction. Where that is not
// clearly good enough for the lattice test and the first elements leave hope, it is found exactly.
void note_facts(Lines& lines, std::int64_t i) {
  const double* row = lines.row(i);
  const Facts f = facts_of(row, lines.stride);
  // The computed sum of K squares is short by at most a factor 1 + K 2^-53, the root by 1 + 2^-53.
  const double norm = std::sqrt(f.squares) * (1 + static_cast<double>(lines.depth + 4) * 0x1p-52);
  // Squares or units that leave the normal doubles prove nothing.
  const bool safe = norm == 0 ? f.least == kInf : norm < 0x1p500 && f.least > 0x1p-450;
  lines.norm[i] = safe ? norm : kInf;
  lines.ratio[i] = safe ? 0 : kInf;
  lines.unit[i] = 0;
  if (!safe || norm == 0) return;
  const int bits = f.fractions ? 52 - std::countr_zero(f.fractions) : 0;
  double unit = std::ldexp(f.least, -bits);
  if (norm / unit > 0x1p26 && norm / unit_of(row, std::min<std::int64_t>(kTile, lines.stride)) < 0x1p32)
    unit = unit_of(row, lines.stride);
  lines.unit[i] = unit;
  lines.ratio[i] = norm / unit * (1 + 0x1p-51);
}

// Rows that lie dense.
void read_dense(const Matrix& m, std::int64_t begin, std::int64_t end, Lines& lines) {
  const int bytes = format(m.dtype).bytes;
  for (std::int64_t i = begin; i < end; ++i)
    decode(m.dtype, m.data + i * m.row_stride * bytes, m.cols, lines.values + i * lines.stride);
}

// Columns of 8 rows become rows: each step exchanges what lies 1, 2, then 4 apart.
PLUMB_INLINE void turn8(const double* from, double* to, std::int64_t stride) {
  Lanes a[8], b[8];
  for (int i = 0; i < 8; ++i) read(a[i], from + i * kTile);
  for (int i = 0; i < 8; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i : {0, 1, 4, 5}) {
    a[i] = __builtin_shufflevector(b[i], b[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    a[i + 2] = __builtin_shufflevector(b[i], b[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) std::memcpy(to + i * stride, &b[i], sizeof(Lanes));
}

// Rows and columns are multiples of 8.
struct Target {
  double* to;
  std::int64_t rows, cols, stride;
};

PLUMB_CLONES void turn(const double* tile, const Target& t) {
  for (std::int64_t i = 0; i < t.rows; i += 8)
    for (std::int64_t k = 0; k < t.cols; k += 8)
      turn8(tile + k * kTile + i, t.to + i * t.stride + k, t.stride);
}

// One element of each row lies dense, as in the columns of a row-major matrix: tiles are turned.
void read_turned(const Matrix& m, std::int64_t begin, std::int64_t end, Lines& lines) {
  const int bytes = format(m.dtype).bytes;
  alignas(64) double tile[kTile * kTile];
  for (std::int64_t i = begin; i < end; i += kTile) {
    for (std::int64_t k = 0; k < m.cols; k += kTile) {
      const std::int64_t rows = std::min(kTile, end - i), cols = std::min(kTile, m.cols - k);
      for (std::int64_t c = 0; c < cols; ++c)
        decode(m.dtype, m.data + (i * m.row_stride + (k + c) * m.col_stride) * bytes, rows, tile + c * kTile);
      double* to = lines.values + i * lines.stride + k;
      const std::int64_t whole_rows = rows & -8, whole_cols = cols & -8;
      turn(tile, {to, whole_rows, whole_cols, lines.stride});
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c)
          to[r * lines.stride + c] = tile[c * kTile + r];
    }
  }
}

void read_strided(const Matrix& m, std::int64_t begin, std::int64_t end, Lines& lines) {
  const int bytes = format(m.dtype).bytes;
  for (std::int64_t i = begin; i < end; ++i)
    for (std::int64_t k = 0; k < m.cols; ++k)
      lines.values[i * lines.stride + k] =
          decode(m.dtype, load(m.dtype, m.data + (i * m.row_stride + k * m.col_stride) * bytes));
}

}  // namespace

double* reserve(Scratch& scratch, std::int64_t size) {
  if (size <= scratch.size) return scratch.room.get();
  constexpr std::size_t page = 2 << 20;
  const std::size_t bytes = (static_cast<std::size_t>(size) * sizeof(double) + page - 1) & -page;
  scratch = {};
  scratch.room.reset(static_cast<double*>(std::aligned_alloc(page, bytes)));
  if (!scratch.room) throw std::bad_alloc();
  madvise(scratch.room.get(), bytes, MADV_HUGEPAGE);  // where it is refused, small pages do
  scratch.size = size;
  return scratch.room.get();
}

// Lines begin at whole vectors.
std::int64_t stride_for(const Matrix& m) { return (m.cols + 7) / 8 * 8; }

std::int64_t doubles_for(const Matrix& m) { return m.rows * stride_for(m); }

Lines lines_for(const Matrix& m, double* room) {
  Lines lines;
  lines.count = m.rows;
  lines.depth = m.cols;
  lines.stride = stride_for(m);
  if (!room) lines.own = std::make_unique_for_overwrite<double[]>(doubles_for(m));
  lines.values = room ? room : lines.own.get();
  lines.norm.resize(m.rows);
  lines.unit.resize(m.rows);
  lines.ratio.resize(m.rows);
  return lines;
}

void read_lines(const Matrix& m, std::int64_t begin, std::int64_t end, Lines& lines) {
  if (m.col_stride == 1)
    read_dense(m, begin, end, lines);
  else if (m.row_stride == 1)
    read_turned(m, begin, end, lines);
  else
    read_strided(m, begin, end, lines);
  for (std::int64_t i = begin; i < end; ++i) {
    double* row = lines.values + i * lines.stride;
    std::fill(row + lines.depth, row + lines.stride, 0.0);
    note_facts(lines, i);
  }
}

}  // namespace plumb
