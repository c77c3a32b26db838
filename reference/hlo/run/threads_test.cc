// Work in parts, and the memory it is done in: the parts make up the whole, and what comes of many elements
// is what comes of each.
#include "reference/hlo/run/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>

#include "reference/hlo/module/parse.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

constexpr std::int64_t kLarge = 1 << 20;  // as a cost: each of a few is worth a thread

TEST(Threads, EachIsInOnePart) {
  for (const std::int64_t n : {0, 1, 2, 3, 7, 1000})
    for (const std::int64_t cost : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 16, kLarge}) {
      std::vector<std::atomic<int>> met(static_cast<std::size_t>(n));
      each_part(n, cost, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++met[static_cast<std::size_t>(i)];
      });
      for (const auto& times : met) EXPECT_EQ(times, 1) << n << " of cost " << cost;
    }
}

TEST(Threads, OfNoPartsNothingIsLeft) {
  at_once(0, [](std::int64_t) { throw Misfit("it"); });
  int met = 0;
  at_once(1, [&](std::int64_t) { ++met; });
  EXPECT_EQ(met, 1);
}

TEST(Threads, WhatAPartThrowsIsThrown) {
  for (const std::int64_t at : {0, 3})
    EXPECT_THROW(each_part(4, kLarge,
                           [&](std::int64_t begin, std::int64_t end) {
                             if (begin <= at && at < end) throw Misfit("it");
                           }),
                 Misfit);
}

TEST(Threads, OfSeveralThatThrowTheFirstIsThrownWhenAllHaveEnded) {
  for (std::int64_t first = 0; first < 5; ++first) {
    std::atomic<std::int64_t> done = 0;
    try {
      at_once(5, [&](std::int64_t n) {
        ++done;
        if (n >= first) throw n;
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (std::int64_t thrown) {
      EXPECT_EQ(thrown, first);
    }
    EXPECT_EQ(done, 5);
  }
}

// Nobody waits for a thread that waits.
TEST(Threads, WorkWithinWorkOfSeveralAtOnceIsDoneOnce) {
  constexpr std::int64_t kCallers = 4, kParts = 5;
  std::vector<std::atomic<int>> met(kCallers * kParts * kParts);
  std::vector<std::jthread> callers;
  for (std::int64_t caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&met, caller] {
      at_once(kParts, [&](std::int64_t n) {
        at_once(kParts,
                [&](std::int64_t m) { ++met[static_cast<std::size_t>((caller * kParts + n) * kParts + m)]; });
      });
    });
  callers.clear();
  for (const auto& times : met) EXPECT_EQ(times, 1);
}

// Whoever pauses may end the work, in whichever thread.
TEST(Threads, LongWorkPauses) {
  struct Ended {};
  std::atomic<std::int64_t> pauses = 0, done = 0;
  const auto count = [&](std::int64_t begin, std::int64_t end) { done += end - begin; };
  const Pause counted = [&] { ++pauses; };
  each_part(1, kLarge, count, counted);
  each_part(kWorth / 2, 1, count, counted);
  EXPECT_EQ(pauses, 0) << "it is short";
  for (const std::int64_t cost : {std::int64_t{1}, std::int64_t{1000}, kLarge}) {
    const std::int64_t n = std::max<std::int64_t>(5000, 5000 * kWorth / cost);
    pauses = done = 0;
    each_part(n, cost, count, counted);
    EXPECT_EQ(done, n);
    const std::int64_t pieces = n / std::max<std::int64_t>(1, kWorth / cost);
    EXPECT_GE(pauses, pieces - std::max(1u, std::thread::hardware_concurrency()))
        << "one less in each thread";
    EXPECT_LE(pauses, pieces);
    std::atomic<int> left = 1;
    const Pause once = [&] {
      if (left-- == 1) throw Ended();
    };
    EXPECT_THROW(each_part(n, cost, count, once), Ended);
  }
}

// The shape of %x, and an instruction.
constexpr const char* kLong = R"(f32[2097152] | f32[2097152] tanh(%x)
f32[2097152] | pred[2097152] is-finite(%x)
s32[2097152] | s32[2097152] negate(%x)
f32[2097152] | f32[2097152] multiply(%x, %x)
s32[2097152] | s32[2097152] multiply(%x, %x)
f32[2097152] | pred[2097152] compare(%x, %x), direction=LT
s32[2097152] | pred[2097152] compare(%x, %x), direction=LT
f32[2097152] | s32[2097152] convert(%x)
s32[2097152] | f32[2097152] convert(%x)
s32[2097152] | s8[2097152] convert(%x)
f32[2097152] | s32[2097152] bitcast-convert(%x)
s32[2097152] | f32[2097152] bitcast-convert(%x)
s32[2097152] | u32[2097152] bitcast-convert(%x)
f32[2097152] | f32[2097152] clamp(%x, %x, %x)
f32[4096,4096] | f32[4096] reduce(%x, %zero), dimensions={1}, to_apply=%add
f32[8388608] | f32[8388608] all-reduce(%x), channel_id=1, replica_groups={{0}}, use_global_device_ids=true, to_apply=%add
f32[64,65536] | f32[64,64] dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
s32[64,65536] | s32[64,64] dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
f32[1,1,512] | f32[1,1,512] convolution(%x, %x), window={size=512 pad=256_255}, dim_labels=bf0_oi0->bf0
f32[512] | f32[512] sort(%x), dimensions={0}, to_apply=%less
f32[512,128] | (f32[512,2], s32[512,2]) topk(%x), k=2, largest=true
f32[9] | f32[8] reduce-window(%x, %zero), window={size=2}, to_apply=%add
f32[9] | f32[9] map(%x), to_apply=%twice
f32[9] | (f32[], f32[]) reduce(%x, %x, %zero, %zero), dimensions={0}, to_apply=%both
f32[9] | f32[9] scatter(%x, %i, %u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%add
)";

// Instructions that are long, or may be, can be ended within.
TEST(Threads, LongInstructionsPause) {
  struct Ended {};
  std::istringstream table(kLong);
  for (std::string row; std::getline(table, row);) {
    const std::string shape = row.substr(0, row.find(' ')), line = row.substr(row.find("| ") + 2);
    const Module m =
        parse(std::string("HloModule m\n\n%add {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
                          "  ROOT %s = f32[] add(%a, %b)\n}\n\n%less {\n  %a = f32[] parameter(0)\n"
                          "  %b = f32[] parameter(1)\n  ROOT %s = pred[] compare(%a, %b), direction=LT\n}\n\n"
                          "%twice {\n  %a = f32[] parameter(0)\n  ROOT %s = f32[] add(%a, %a)\n}\n\n"
                          "%both {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
                          "  %c = f32[] parameter(2)\n  %d = f32[] parameter(3)\n"
                          "  ROOT %s = (f32[], f32[]) tuple(%a, %b)\n}\n\nENTRY %e {\n  %x = ") +
                  shape +
                  " parameter(0)\n  %zero = f32[] constant(0)\n  %i = s32[2,1] constant({{0}, {1}})\n"
                  "  %u = f32[2] constant({1, 2})\n  ROOT %r = " +
                  line + "\n}\n",
              "m.txt");
    const Shape& of = entry(m).instructions[0].shape;
    auto whole = like<double>(of, 1);
    visit(whole,
          [&](const auto& kind) { elements_of(whole, kind).resize(static_cast<std::size_t>(elements(of))); });
    const std::vector<Value<double>> given = {value(std::move(whole))};
    Reals reals;
    std::atomic<int> pauses = 0;
    Machine<Reals> machine{m, reals, 1};
    machine.pulse.pause = [&] { ++pauses; };
    evaluate(machine, entry(m), given, {});
    EXPECT_GT(pauses, 0) << line;
    machine.pulse.pause = [] { throw Ended(); };
    EXPECT_THROW(evaluate(machine, entry(m), given, {}), Ended) << line;
  }
}

TEST(Threads, LanesOfAPartAreItsElements) {
  for (std::int64_t size = 1; size <= 5; ++size)
    for (std::int64_t begin = 0; begin <= 12; ++begin)
      for (std::int64_t end = begin; end <= 12; ++end) {
        Integers met, want(static_cast<std::size_t>(end - begin));
        std::iota(want.begin(), want.end(), begin);
        each_lane(begin, end, size, [&](std::int64_t lane, std::int64_t from, std::int64_t to) {
          ASSERT_TRUE(0 <= from && from < to && to <= size);
          for (std::int64_t i = from; i < to; ++i) met.push_back(lane * size + i);
        });
        EXPECT_EQ(met, want) << size;
      }
}

// Large enough for threads; device d holds x + d, where x[i,j] = (7 i + 3 j) % 5.
constexpr std::int64_t kRows = 64, kColumns = 2048;
double x(std::int64_t i, std::int64_t j) { return static_cast<double>((7 * i + 3 * j) % 5); }

std::vector<Value<double>> computed(const std::string& lines) {
  const Module m = parse(
      "HloModule m, num_partitions=2\n\n%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
      "  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n\nENTRY %e {\n"
      "  %x = f32[64,2048] parameter(0)\n  %p = u32[] partition-id()\n  %f = f32[] convert(%p)\n"
      "  %d = f32[64,2048] broadcast(%f), dimensions={}\n  %s = f32[64,2048] add(%x, %d)\n"
      "  %zero = f32[] constant(0)\n" +
          lines + "}\n",
      "m.txt");
  Array<double> whole{
      Type::f32, {kRows,       kColumns},
       1, {   },
       {                             }
  };
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < kColumns; ++j) whole.reals.push_back(x(i, j));
  Reals reals;
  return results_of(evaluate(Machine<Reals>{m, reals, 2, {}}, entry(m), {value(std::move(whole))}, {}));
}

template <typename F>
void expect(const Value<double>& held, F want) {
  const Array<double>& a = *held.array;
  const std::int64_t rows = a.dims[0], columns = count(a.dims) / rows;
  for (std::int64_t d = 0; d < 2; ++d)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(a.reals[static_cast<std::size_t>(begin_on(a, d, rows * columns) + i * columns + j)],
                  want(d, i, j))
            << d << " " << i << " " << j;
}

TEST(Threads, WhatComesOfManyElementsIsWhatComesOfEach) {
  const auto all = computed(
      "  %n = f32[64,2048] negate(%s)\n  %m = f32[64,2048] multiply(%s, %x)\n"
      "  %t = f32[2048,64] transpose(%s), dimensions={1,0}\n"
      "  %q = f32[64,64] dot(%s, %x), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
      "  %r = f32[64] reduce(%s, %zero), dimensions={1}, to_apply=%add\n"
      "  %g = f32[64,2048] all-reduce(%s), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, "
      "to_apply=%add\n"
      "  ROOT %all = (f32[64,2048], f32[64,2048], f32[2048,64], f32[64,64], f32[64], f32[64,2048]) "
      "tuple(%n, %m, %t, %q, %r, %g)\n");
  const auto s = [](std::int64_t d, std::int64_t i, std::int64_t j) {
    return x(i, j) + static_cast<double>(d);
  };
  using I = std::int64_t;
  expect(all[0], [&](I d, I i, I j) { return -s(d, i, j); });
  expect(all[1], [&](I d, I i, I j) { return s(d, i, j) * x(i, j); });
  expect(all[2], [&](I d, I j, I i) { return s(d, i, j); });
  expect(all[3], [&](I d, I i, I k) {
    double sum = 0;
    for (I j = 0; j < kColumns; ++j) sum += s(d, i, j) * x(k, j);
    return sum;
  });
  expect(all[4], [&](I d, I i, I) {
    double sum = 0;
    for (I j = 0; j < kColumns; ++j) sum += s(d, i, j);
    return sum;
  });
  expect(all[5], [&](I, I i, I j) { return 2 * x(i, j) + 1; });
}

// Each operation of some rows, and of one by itself: too little for a second thread.
std::vector<Value<double>> of_rows(std::int64_t first, std::int64_t rows) {
  std::string text = R"(HloModule m, num_partitions=2

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %e {
  %x = f32[ROWS,2048] parameter(0)
  %y = f32[16,2048] parameter(1)
  %p = u32[] partition-id()
  %f = f32[] convert(%p)
  %d = f32[ROWS,2048] broadcast(%f), dimensions={}
  %s = f32[ROWS,2048] add(%x, %d)
  %zero = f32[] constant(0)
  %t = f32[ROWS,2048] tanh(%s)
  %v = f32[ROWS,2048] divide(%t, %s)
  %q = f32[ROWS,16] dot(%s, %y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  %r = f32[ROWS] reduce(%s, %zero), dimensions={1}, to_apply=%add
  %g = f32[ROWS,2048] all-reduce(%v), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%add
  ROOT %all = (f32[ROWS,2048], f32[ROWS,16], f32[ROWS], f32[ROWS,2048]) tuple(%v, %q, %r, %g)
}
)";
  for (std::size_t at = 0; (at = text.find("ROWS", at)) != text.npos;)
    text.replace(at, 4, std::to_string(rows));
  const Module m = parse(text, "m.txt");
  const auto drawn = [](std::int64_t from, std::int64_t n) {  // sums of these are rounded
    Array<double> all{
        Type::f32, {n,             kColumns},
         1, {   },
         {                                 }
    };
    for (std::int64_t i = from * kColumns; i < (from + n) * kColumns; ++i)
      all.reals.push_back(std::sin(static_cast<double>(i + 1)));
    return value(std::move(all));
  };
  Reals reals;
  return results_of(
      evaluate(Machine<Reals>{m, reals, 2, {}}, entry(m), {drawn(first, rows), drawn(100, 16)}, {}));
}

TEST(Threads, WhatIsSharedOutIsTheSameToTheLastBit) {
  const auto all = of_rows(0, kRows);
  for (std::int64_t row = 0; row < kRows; ++row) {
    const auto one = of_rows(row, 1);
    for (std::size_t n = 0; n < all.size(); ++n) {
      const Array<double>&whole = *all[n].array, &own = *one[n].array;
      const std::int64_t size = count(own.dims);
      for (std::int64_t device = 0; device < 2; ++device)
        EXPECT_TRUE(std::equal(own.reals.begin() + begin_on(own, device, size),
                               own.reals.begin() + begin_on(own, device, size) + size,
                               whole.reals.begin() + begin_on(whole, device, kRows * size) + row * size))
            << n << " " << row << " " << device;
    }
  }
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

std::int64_t resident() {
  std::int64_t all = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> all >> pages;
  return pages * 4096;
}

// No two lists share memory, whatever sizes come and go, and no more is held than was in use at one time. (A
// sanitizer's shadow is resident too, so there only the first is asked.)
TEST(Elements, LieApartInNoMoreMemoryThanWasInUse) {
  constexpr std::size_t kMiB = (1 << 20) / sizeof(double);
  const std::int64_t before = resident();
  for (const std::size_t parts : {1, 2, 8, 3, 5, 1, 8}) {
    std::vector<Elements<double>> lists(parts);
    for (std::size_t n = 0; n < parts; ++n) {
      lists[n].resize(32 / parts * kMiB);
      std::ranges::fill(lists[n], static_cast<double>(n));
    }
    for (std::size_t n = 0; n < parts; ++n)
      EXPECT_TRUE(std::ranges::all_of(lists[n], [&](double one) { return one == static_cast<double>(n); }));
    if (!kSanitized) {
      EXPECT_LT(resident() - before, 48 << 20) << "32 MiB, rounded up to pages";
    }
  }
}

}  // namespace
}  // namespace plumb::hlo
