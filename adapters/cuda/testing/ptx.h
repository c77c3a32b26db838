// What the instructions of PTX do, as functions of this processor, for what scripts/ptx/translate.py writes.
// Registers are bits, which an instruction takes as its type says. Memory of the card lies at addresses that
// no instruction of this processor reaches; a kernel that is given another one, or a misaligned one, ends as
// it would on a card.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace plumb::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;
using pred = bool;

// A thread of a grid.
struct Thread {
  u32 tid = 0, ctaid = 0, ntid = 1, nctaid = 1;
};

[[noreturn]] inline void stop(const char* words) {
  std::fprintf(stderr, "PTX: %s\n", words);
  std::abort();
}

template <class T>
struct OfFloat;
template <>
struct OfFloat<f32> {
  using Bits = u32;
};
template <>
struct OfFloat<f64> {
  using Bits = u64;
};
template <class T>
struct OfInteger {
  using Bits = std::make_unsigned_t<T>;
};
template <class T>
using Bits = typename std::conditional_t<std::is_floating_point_v<T>, OfFloat<T>, OfInteger<T>>::Bits;

constexpr u64 kUnset = 0xcdcdcdcdcdcdcdcd;  // what nobody wrote

// The bits of a register that are a float, and back.
template <std::floating_point T>
T as(Bits<T> r) {
  return std::bit_cast<T>(r);
}
template <std::floating_point T>
Bits<T> bits(T value) {
  return std::bit_cast<Bits<T>>(value);
}

// Modulo 2^bits, whatever the sign.
template <std::integral T>
T add(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) + static_cast<u64>(b));
}
template <std::integral T>
T sub(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) - static_cast<u64>(b));
}
template <std::integral T>
T mul_lo(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
}
template <std::integral T>
T mul_hi(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>(static_cast<Wide>(a) * b >> 8 * sizeof(T));
}
inline s32 mul_wide(s16 a, s16 b) { return s32{a} * b; }
inline u32 mul_wide(u16 a, u16 b) { return u32{a} * b; }
inline s64 mul_wide(s32 a, s32 b) { return s64{a} * b; }
inline u64 mul_wide(u32 a, u32 b) { return u64{a} * b; }

// With the carry as the flag has it: of a difference it says that nothing was borrowed.
template <std::integral T>
T sum(T a, T b, bool in, bool& out) {
  const unsigned __int128 all =
      static_cast<unsigned __int128>(static_cast<Bits<T>>(a)) + static_cast<Bits<T>>(b) + in;
  out = all >> 8 * sizeof(T) & 1;
  return static_cast<T>(all);
}
template <std::integral T>
T flipped(T a) {
  return static_cast<T>(~a);
}

template <std::integral T>
T quotient(T a, T b) {
  if (b == 0) stop("a division by zero");
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return sub(T{0}, a);
  return static_cast<T>(a / b);
}
template <std::integral T>
T rest(T a, T b) {
  return sub(a, mul_lo(quotient(a, b), b));
}

// More than all bits are shifted out.
template <std::integral T>
T shl(T a, u32 n) {
  return n < 8 * sizeof(T) ? static_cast<T>(static_cast<u64>(a) << n) : T{0};
}
template <std::integral T>
T shr(T a, u32 n) {
  return static_cast<T>(a >> (n < 8 * sizeof(T) ? n : 8 * sizeof(T) - 1) >> (n < 8 * sizeof(T) ? 0 : 1));
}

inline u32 shf_l_wrap(u32 low, u32 high, u32 n) {
  return static_cast<u32>((u64{high} << 32 | low) << (n & 31) >> 32);
}
inline u32 shf_r_wrap(u32 low, u32 high, u32 n) {
  return static_cast<u32>((u64{high} << 32 | low) >> (n & 31));
}

// Four bytes of eight; with 8 added a byte of its sign.
inline u32 prmt(u32 a, u32 b, u32 which) {
  const u64 all = u64{b} << 32 | a;
  u32 made = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 n = which >> 4 * i & 15;
    const auto byte = static_cast<u8>(all >> 8 * (n & 7));
    made |= u32{n & 8 ? static_cast<u8>(byte >> 7 ? 255 : 0) : byte} << 8 * i;
  }
  return made;
}

// b with `length` bits of a from `at` on.
template <std::integral T>
T bfi(T a, T b, u32 at, u32 length) {
  at &= 255, length &= 255;
  const T mask = shl(static_cast<T>(~shl(static_cast<T>(~T{0}), length)), at);
  return static_cast<T>((b & ~mask) | (shl(a, at) & mask));
}

template <std::floating_point T>
T magnitude(T a) {
  return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(a) << 1 >> 1));
}
template <std::floating_point T>
T negative(T a) {
  return std::bit_cast<T>(
      static_cast<Bits<T>>(std::bit_cast<Bits<T>>(a) ^ (Bits<T>{1} << (8 * sizeof(T) - 1))));
}
template <std::floating_point T>
bool are_numbers(T a, T b) {
  return a == a && b == b;
}

// Towards zero, and no further than the type reaches; what is no number is 0, or of 64 bits the largest
// magnitude of a sign.
template <std::integral To, std::floating_point From>
To truncated(From a) {
  using Limits = std::numeric_limits<To>;
  if (a != a)
    return sizeof(From) == 8 || sizeof(To) == 8 ? static_cast<To>(Bits<To>{1} << (8 * sizeof(To) - 1))
                                                : To{0};
  if (a >= static_cast<From>(Limits::max())) return Limits::max();
  if (a <= static_cast<From>(Limits::min())) return Limits::min();
  return static_cast<To>(a);
}

constexpr u64 kFar = u64{1} << 62;  // of every address of the card's memory

// What a kernel may read and write at that address.
[[gnu::noinline]] inline std::byte* reached(u64 at, std::size_t bytes, bool global) {
  if (at % bytes != 0) stop("a misaligned address");
  if (global && (at & kFar) == 0) stop("an address that is none of the card's memory");
  return reinterpret_cast<std::byte*>(at & ~kFar);
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
T load_again(const std::byte* from) {
  return *reinterpret_cast<const volatile T*>(from);
}
template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace plumb::ptx
