// What is looked for beside AFTER, for the draw that may be proven: it goes on no longer than somebody wants
// it, and takes nothing from what is found.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "reference/hlo/prove/testing/verdicts.h"
#include "reference/hlo/prove/whole.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {
namespace {

// A sum decides, so BEFORE runs again without a part of it; and it takes many steps.
constexpr const char* kText = R"(HloModule m, num_partitions=2

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%few (n: s32[]) -> pred[] {
  %n = s32[] parameter(0)
  %most = s32[] constant(20000)
  ROOT %l = pred[] compare(%n, %most), direction=LT
}

%next (n: s32[]) -> s32[] {
  %n = s32[] parameter(0)
  %one = s32[] constant(1)
  ROOT %m = s32[] add(%n, %one)
}

ENTRY %e {
  %x = f32[ROWS,3] parameter(0)CUT
  %zero = f32[] constant(0)
  %part = f32[] reduce(%x, %zero), dimensions={0,1}, to_apply=%sum
  %told = f32[] TOLD
  %above = pred[] compare(%told, %zero), direction=GT
  %all = pred[ROWS,3] broadcast(%above), dimensions={}
  %minus = f32[ROWS,3] negate(%x)
MORE
  ROOT %r = f32[ROWS,3] RESULT CUT
}
)";
constexpr const char* kLong = R"(  %from = s32[] constant(0)
  %rounds = s32[] while(%from), condition=%few, body=%next
  %unread.0 = u8[40000] iota(), iota_dimension=0
  %unread.1 = u8[40000] iota(), iota_dimension=0)";
constexpr const char* kToldSum =
    "all-reduce(%part), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%sum";

Module summed_before() {
  const std::string cut = ", sharding={devices=[2,1]<=[2]}";
  return parse(with(kText,
                    {
                        {"TOLD",   "copy(%part)"             },
                        {"MORE",   kLong                     },
                        {"RESULT", "select(%all, %x, %minus)"},
                        {"ROWS",   "4"                       },
                        {" CUT",   cut                       },
                        {"CUT",    cut                       }
  }),
               "before.txt");
}

Module summed_after(const std::string& more, const std::string& result) {
  return parse(with(kText,
                    {
                        {"TOLD",   kToldSum},
                        {"MORE",   more    },
                        {"RESULT", result  },
                        {"ROWS",   "2"     },
                        {" CUT",   ""      },
                        {"CUT",    ""      }
  }),
               "after.txt");
}

const std::string kSameWay = "select(%all, %x, %minus)", kOtherWay = "select(%all, %minus, %x)";

// One draw, in which AFTER waits until BEFORE runs without a part.
struct BesideAfter {
  std::atomic<bool> begun = false, ended = false;  // the run beside; AFTER's
  bool to_its_end = false;                         // the run beside
  int runs = 0;                                    // of BEFORE

  // Each step of the run beside, and of AFTER, calls one of these.
  Finding of(const Module& after, const std::function<void()>& beside,
             const std::function<void()>& step_of_after = {}) {
    struct End {
      std::atomic<bool>& ended;
      ~End() { ended = true; }
    };
    Options options{.draws = 1};
    options.step = [&](const Step& step) {
      if (step.after) return step_of_after ? step_of_after() : void();
      runs += step.computed == 0;
      if (runs < 2) return;
      begun = true, begun.notify_all();
      to_its_end |= step.done == step.all - 1;
      beside();
    };
    options.watch = [&](const Module&, const Proof&) -> Watch<Twin> {
      begun.wait(false);
      return [end = std::make_shared<End>(ended)](const auto&, const auto&, const auto&) {};
    };
    return prove({summed_before(), after, nullptr}, options).finding;
  }
};

struct Ended {};
const auto kEnds = [] { throw Ended(); };

class Beside : public testing::Test {
  void SetUp() override {
    if (threads() == 1) GTEST_SKIP() << "nothing runs beside";
  }
};

// Who is told may end what runs beside: that ends a proof, and no refutation.
TEST_F(Beside, WhatIsRefutedIsNotLost) {
  EXPECT_EQ(BesideAfter().of(summed_after("", kOtherWay), kEnds), Finding::refuted);
  EXPECT_THROW(BesideAfter().of(summed_after("", kSameWay), kEnds), Ended);
}

// However AFTER ends, once its draw is not proven the run beside, which would take 100,000 ms, ends too.
TEST_F(Beside, NothingGoesOnThatNobodyWants) {
  const Module wrong = summed_after("", kOtherWay), right = summed_after("", kSameWay),
               refused =
                   summed_after("  %t = f32[2,3] tanh(%x)\n  %bits = s32[2,3] bitcast-convert(%t)", kSameWay);
  const auto ends_beside = [](const Module& held, const std::function<void()>& step_of_after = {}) {
    BesideAfter draw;
    const auto slow = [&] {
      if (draw.ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    std::string found;
    try {
      found = name(draw.of(held, slow, step_of_after));
    } catch (const BadModule&) {
      found = "refused";
    } catch (const Ended&) {
      found = "ended";
    }
    return found + (draw.to_its_end ? ", and what ran beside went on" : "");
  };
  EXPECT_EQ(ends_beside(wrong), "refuted");
  EXPECT_EQ(ends_beside(refused), "refused");
  EXPECT_EQ(ends_beside(right, kEnds), "ended");
}

}  // namespace
}  // namespace plumb::hlo
