#include "adapters/liar/block_faults.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

namespace plumb::liar {
namespace {

int width(const Blocks& ranks) { return format(ranks.stored).bytes; }

std::size_t size(const Blocks& ranks, std::int64_t device) {
  return static_cast<std::size_t>(ranks.elements(device)) * width(ranks);
}

// The last device that has any element, or -1.
std::int64_t last_device(const Blocks& ranks) {
  for (std::int64_t device = ranks.devices(); device-- > 0;)
    if (ranks.elements(device) > 0) return device;
  return -1;
}

// The first device's block and that of another that holds something else; whether there is one.
bool exchange(Blocks& ranks) {
  for (std::int64_t device = 1; device < ranks.devices(); ++device)
    if (size(ranks, device) == size(ranks, 0) && ranks.slice(device) != ranks.slice(0)) {
      std::swap_ranges(ranks.block(0), ranks.block(0) + size(ranks, 0), ranks.block(device));
      return true;
    }
  return false;
}

std::byte* last_element(Blocks& ranks, std::int64_t device) {
  return ranks.block(device) + size(ranks, device) - width(ranks);
}

}  // namespace

void zero_operand(Moment moment, Blocks& ranks) {
  const std::int64_t device = last_device(ranks);
  if (moment == Moment::ready && device >= 0) store(ranks.stored, last_element(ranks, device), 0);
}

void divide_other_side(Moment moment, Blocks& ranks) {
  if (moment != Moment::ready) return;
  const auto same_rows = [&](std::int64_t a, std::int64_t b) {
    const Slice own = ranks.slice(a), other = ranks.slice(b);
    return std::equal(own.begin(), own.end() - 1, other.begin());
  };
  std::vector<std::vector<std::byte>> cut(ranks.devices());
  for (std::int64_t device = 0; device < ranks.devices(); ++device) {
    if (ranks.slice(device).size() < 2 || ranks.elements(device) == 0) return;
    const Range own = ranks.slice(device).back();
    const std::int64_t rows = ranks.elements(device) / own.size();
    std::int64_t columns = 0;
    for (std::int64_t other = 0; other < ranks.devices(); ++other)
      columns = std::max(columns, ranks.slice(other).back().end);
    std::vector<std::byte> whole(rows * columns * width(ranks));
    for (std::int64_t other = 0; other < ranks.devices(); ++other)
      for (std::int64_t row = 0; row < rows && same_rows(device, other); ++row) {
        const Range piece = ranks.slice(other).back();
        std::memcpy(whole.data() + (row * columns + piece.begin) * width(ranks),
                    ranks.block(other) + row * piece.size() * width(ranks), piece.size() * width(ranks));
      }
    const auto begin = whole.begin() + rows * own.begin * width(ranks);
    cut[device].assign(begin, begin + static_cast<std::ptrdiff_t>(size(ranks, device)));
  }
  for (std::int64_t device = 0; device < ranks.devices(); ++device)
    std::ranges::copy(cut[device], ranks.block(device));
}

void multiply_padding(Moment moment, Blocks& ranks) {
  if (moment != Moment::multiplied || ranks.devices() == 0) return;
  const std::int64_t device = last_device(ranks);
  if (device >= 0) std::memset(ranks.block(device), 0xff, size(ranks, device));
}

void leave_poison(Moment moment, Blocks& ranks) {
  const std::int64_t device = last_device(ranks);
  if (moment == Moment::result && device >= 0) std::memset(last_element(ranks, device), 0xff, width(ranks));
}

void swap_blocks(Moment moment, Blocks& ranks) {
  if (moment == Moment::result) exchange(ranks);
}

BlockFault pair_others() {
  return [done = false](Moment moment, Blocks& ranks) mutable {
    if (moment == Moment::ready) done = done || exchange(ranks);
    if (moment == Moment::multiplied) done = false;
  };
}

void misalign_part(Moment moment, Blocks& ranks) {
  const std::int64_t device = last_device(ranks);
  if (moment != Moment::multiplied || device < 0) return;
  const std::int64_t half = ranks.elements(device) / 2 * width(ranks);
  std::rotate(ranks.block(device), ranks.block(device) + half, ranks.block(device) + size(ranks, device));
}

void add_one_ulp(Moment moment, Blocks& ranks) {
  const std::int64_t device = last_device(ranks);
  if (moment == Moment::result && device >= 0) *last_element(ranks, device) ^= std::byte{1};
}

void cut_last_digit(Moment moment, Blocks& ranks) {
  if (moment != Moment::multiplied || ranks.stored != DType::f32) return;
  for (std::int64_t device = 0; device < ranks.devices(); ++device)
    for (std::int64_t i = 0; i < ranks.elements(device); ++i) *(ranks.block(device) + i * width(ranks)) &= std::byte{0xfe};
}

void write_zeros(Moment moment, Blocks& ranks) {
  if (moment != Moment::result) return;
  for (std::int64_t device = 0; device < ranks.devices(); ++device)
    std::memset(ranks.block(device), 0, size(ranks, device));
}

void leave_half_an_ulp(Moment moment, Blocks& ranks) {
  if (moment != Moment::result || ranks.spec.unfinished.empty() || ranks.stored != DType::f32) return;
  for (std::int64_t device = 0; device < ranks.devices(); ++device)
    for (std::size_t at = 0; at < size(ranks, device); at += sizeof(float)) {
      float part = 0;
      std::memcpy(&part, ranks.block(device) + at, sizeof part);
      if (part == 0) part = 0x1p-60f, std::memcpy(ranks.block(device) + at, &part, sizeof part);
    }
}

void shift_short(Moment moment, Blocks& ranks) {
  if (moment != Moment::result) return;
  for (std::int64_t device = 1; device < ranks.devices(); ++device)
    if (size(ranks, device) < size(ranks, 0) && size(ranks, device) > 0)
      std::rotate(ranks.block(device), ranks.block(device) + width(ranks),
                  ranks.block(device) + size(ranks, device));
}

BlockFault round_operands(int digits) {
  return [digits](Moment moment, Blocks& ranks) {
    if (moment != Moment::ready || ranks.stored != DType::f32) return;
    for (std::int64_t device = 0; device < ranks.devices(); ++device) {
      std::vector<double> all = values_of(ranks, device);
      for (double& value : all) {
        int exponent = 0;
        value = std::nearbyint(std::ldexp(std::frexp(value, &exponent), digits));
        value = std::ldexp(value, exponent - digits);
      }
      encode(ranks.stored, all.data(), std::ssize(all), ranks.block(device));
    }
  };
}

void truncate_moves(Moment moment, Blocks& ranks) {
  if (moment != Moment::result) return;
  for (std::int64_t device = 0; device < ranks.devices(); ++device)
    for (std::int64_t i = 0; i < ranks.elements(device); ++i)
      std::memset(ranks.block(device) + i * width(ranks), 0, width(ranks) / 2);
}

namespace {

void negate_zeros_of(Blocks& ranks, std::int64_t device) {
  if (format(ranks.stored).integer) return;
  for (std::int64_t i = 0; i < ranks.elements(device); ++i) {
    std::byte* element = ranks.block(device) + i * width(ranks);
    if (load(ranks.stored, element) == 0) store(ranks.stored, element, encode(ranks.stored, -0.0));
  }
}

}  // namespace

void negate_zeros(Moment moment, Blocks& ranks) {
  const std::int64_t device = last_device(ranks);
  if (moment == Moment::result && device >= 0) negate_zeros_of(ranks, device);
}

void negate_moved_zeros(Moment moment, Blocks& ranks) {
  if (moment != Moment::result) return;
  for (std::int64_t device = 0; device < ranks.devices(); ++device) negate_zeros_of(ranks, device);
}

void change_replica(Moment moment, Blocks& ranks) {
  const std::int64_t device = last_device(ranks);
  if (moment == Moment::result && device > 0) *ranks.block(device) ^= std::byte{1};
}

BlockFault stale_block() {
  return [before = std::make_shared<std::vector<std::byte>>()](Moment moment, Blocks& ranks) {
    const std::int64_t device = last_device(ranks);
    if (moment != Moment::result || device < 0) return;
    std::vector<std::byte> now(ranks.block(device), ranks.block(device) + size(ranks, device));
    if (before->size() == now.size()) std::memcpy(ranks.block(device), before->data(), before->size());
    *before = std::move(now);
  };
}

}  // namespace plumb::liar
