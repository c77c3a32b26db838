#include "adapters/cuda/products.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>

#include "adapters/cuda/laid.h"
#include "adapters/cuda/product_element.h"

namespace plumb::cuda {
namespace {

bool among(const std::string& letters, char letter) { return letters.find(letter) != letters.npos; }

// How far apart two elements are that differ by one in a letter; 0 where it is none of the block's.
std::int64_t step_of(const std::string& letters, const Slice& slice, char letter) {
  std::int64_t step = 1;
  for (std::size_t d = letters.size(); d-- > 0; step *= slice[d].size())
    if (letters[d] == letter) return step;
  return 0;
}

std::int64_t size_of(const std::string& letters, const Slice& slice, char letter) {
  return slice[letters.find(letter)].size();
}

// The blocks of one device.
struct Slices {
  Slice lhs, rhs, out;
};

struct Writer {
  const LocalProduct& p;
  std::string summed;
  Products all{};
  std::vector<Product> products{};
  std::vector<std::int64_t> numbers{};

  void add_letter(const Slices& s, char letter) {
    numbers.push_back(among(p.lhs, letter) ? size_of(p.lhs, s.lhs, letter) : size_of(p.rhs, s.rhs, letter));
    numbers.push_back(step_of(p.lhs, s.lhs, letter));
    numbers.push_back(step_of(p.rhs, s.rhs, letter));
  }
  Range range(const Slices& s, char letter) const {
    return among(p.lhs, letter) ? s.lhs[p.lhs.find(letter)] : s.rhs[p.rhs.find(letter)];
  }
  // The group that each row of the device meets; -1: none.
  void add_groups_of_rows(const Range& rows, const Range& groups) {
    const std::size_t at = numbers.size();
    numbers.resize(at + rows.size(), -1);
    for (std::int64_t g = groups.begin; g < groups.end; ++g)
      for (const Range& run : p.rows[g])
        for (std::int64_t t = std::max(run.begin, rows.begin); t < std::min(run.end, rows.end); ++t)
          numbers[at + t - rows.begin] = g - groups.begin;
  }
  // Of each group where its runs stand, then the runs: their number, and begin and end of each.
  void add_rows_of_groups(const Range& rows, const Range& groups) {
    const std::size_t at = numbers.size();
    numbers.resize(at + groups.size());
    for (std::int64_t g = groups.begin; g < groups.end; ++g) {
      const std::size_t runs = numbers.size();
      numbers[at + g - groups.begin] = static_cast<std::int64_t>(runs);
      numbers.push_back(0);
      for (const Range& run : p.rows[g]) {
        const std::int64_t begin = std::max(run.begin, rows.begin), end = std::min(run.end, rows.end);
        if (begin >= end) continue;
        ++numbers[runs];
        numbers.push_back(begin - rows.begin), numbers.push_back(end - rows.begin);
      }
    }
  }
  void add(const Slices& s, std::int64_t lhs, std::int64_t rhs, std::int64_t out) {
    const std::int64_t n = elements(s.out);
    if (n == 0) return;
    const std::size_t at = numbers.size();
    products.push_back({all.elements, static_cast<std::int64_t>(at)});
    all.elements += n;
    const bool g = p.grouped;
    numbers.insert(numbers.end(), {lhs, rhs, out, 0, g ? step_of(p.lhs, s.lhs, 'g') : 0,
                                   g ? step_of(p.rhs, s.rhs, 'g') : 0});
    for (char letter : p.out) add_letter_of_out(s, letter);
    for (char letter : summed) add_letter(s, letter);
    if (!g) return;
    numbers[at + 3] = std::ssize(numbers);
    if (all.groups == Groups::of_rows)
      add_groups_of_rows(range(s, 't'), range(s, 'g'));
    else
      add_rows_of_groups(range(s, 't'), s.out[p.out.find('g')]);
  }
  void add_letter_of_out(const Slices& s, char letter) {
    numbers.push_back(size_of(p.out, s.out, letter));
    numbers.push_back(step_of(p.lhs, s.lhs, letter));
    numbers.push_back(step_of(p.rhs, s.rhs, letter));
  }
};

Writer writer(const LocalProduct& p) {
  Writer w{p, {}};
  for (char letter : p.lhs)
    if (!among(p.out, letter) && !(p.grouped && letter == 'g')) w.summed += letter;
  w.all.letters = static_cast<std::int32_t>(p.out.size());
  w.all.summed = static_cast<std::int32_t>(w.summed.size());
  if (!p.grouped) return w;
  w.all.groups = among(p.out, 't') ? Groups::of_rows : Groups::over_rows;
  w.all.row = static_cast<std::int32_t>(p.out.find(among(p.out, 't') ? 't' : 'g'));
  return w;
}

std::int64_t offset_of(const Blocks& blocks, std::int64_t device) {
  return blocks.block(device) - blocks.memory.get();
}

}  // namespace

// Tables of a product, made when it is first wanted: the blocks stay where they are.
Multiply products_by(const Device& device) {
  struct Made {
    Laid<Product> products;
    Laid<std::int64_t> numbers;
    Products all;
  };
  return [&device, made = std::make_shared<std::optional<Made>>()](const Plan& plan, const Blocks& lhs,
                                                                   const Blocks& rhs, Blocks& out) {
    assert(plan.acc_digits == 0 && out.stored == plan.acc);
    if (!*made) {
      Writer w = writer(*plan.product);
      for (std::int64_t i = out.own.begin; i < out.own.end; ++i)
        w.add({lhs.slice(i), rhs.slice(i), out.slice(i)}, offset_of(lhs, i), offset_of(rhs, i),
              offset_of(out, i));
      *made = Made{lay<Product>(device.hands, w.products), lay<std::int64_t>(device.hands, w.numbers), w.all};
      Products& all = (*made)->all;
      all.products = (*made)->products.rows(), all.numbers = (*made)->numbers.rows();
      all.count = std::ssize(w.products);
      all.lhs = lhs.memory.get(), all.rhs = rhs.memory.get(), all.out = out.memory.get();
      all.lhs_dtype = lhs.stored, all.rhs_dtype = rhs.stored, all.acc = out.stored;
    }
    device.multiply((*made)->all);
  };
}

}  // namespace plumb::cuda
