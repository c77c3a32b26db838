// Law: of damaged modules is said what was said: where the mistake stands, what the module computes, whether
// it is what the whole one does, what memory that needs, and where it went wrong; and a fault planted at a
// place is what it was and does what it did. golden/opcodes.txt, programs.txt, planted.txt and harm.txt have
// a digest for each block of them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "reference/hlo/module/testing/dumps.h"
#include "reference/hlo/prove/draw.h"
#include "reference/hlo/prove/faults.h"
#include "reference/hlo/prove/harm.h"
#include "reference/hlo/prove/memory.h"
#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/prove/prove.h"
#include "reference/hlo/prove/subject.h"
#include "reference/hlo/prove/testing/damage.h"
#include "reference/hlo/prove/where.h"
#include "reference/hlo/run/run.h"
#include "reference/words/testing/pins.h"

namespace plumb::hlo {
namespace {

using Held = Value<double>;

std::string said(const Held& held) {
  if (!held.array) {
    std::string text = "(";
    for (const Held& part : held.parts) text += said(part) + " ";
    return text + ")";
  }
  const Array<double>& a = *held.array;
  std::string text = fmt::format("{}[{}]x{} {}", row(a.type).name, fmt::join(a.dims, ","), a.lanes,
                                 fmt::join(a.integers, ","));
  for (const double x : a.reals) text += fmt::format(" {:.10g}", x == 0 || std::isnan(x) ? std::fabs(x) : x);
  return text.substr(0, 2000) + fmt::format(" {:x}", fnv(text));
}

std::string said(const Value<Twin>& held) {
  std::string text;
  for (const Value<Twin>& part : held.parts) text += said(part) + " ";
  if (!held.array) return "(" + text + ")";
  for (const std::int64_t n : held.array->integers) text += fmt::format(" {}", n);
  for (const Twin& x : held.array->reals)
    text += fmt::format(" {:x}.{:x}.{:.6g}", x.coefficient.value, x.exponent.value,
                        std::isnan(x.real) ? 0 : x.real);
  return text.substr(0, 1000) + fmt::format(" {:x}", fnv(text));
}

std::string said(const std::vector<Bounds>& bounds) {
  std::string text;
  for (const Bounds& b : bounds) text += fmt::format(" {}:{} {}", b.low, b.high, b.indexes);
  return text + "\n";
}

std::string said(const Proof& p) {
  std::string text = fmt::format("{} {} {} {} {} draws {} seed {} {} untaken {}{}", name(p.finding), p.why,
                                 p.results, p.elements, p.devices, p.draws, p.seed, p.as_propagated,
                                 fmt::join(p.untaken, ","), said(p.bounds));
  for (const Difference& d : p.differences)
    text += fmt::format("  result {} {}: {} elements, {} devices, {} at {}\n", d.result, print(d.shape),
                        d.elements, d.devices, d.device, fmt::join(d.index, ","));
  return text;
}

std::string said(const std::optional<Place>& p) {
  return p ? fmt::format("at {} | {} | {} | {}\n", p->instruction, p->source, p->op_name, p->there) : "";
}

// The elements that are drawn, whole.
std::vector<Held> arguments(const Module& module, std::uint64_t seed) {
  std::vector<Held> all;
  for (const Value<Twin>& one : drawn(module, bounds_of(module), seed)) {
    Array<double> array{one.array->type, one.array->dims, 1, one.array->integers, {}};
    for (const Twin& x : one.array->reals) array.reals.push_back(x.real);
    all.push_back(value(std::move(array)));
  }
  return all;
}

bool small(const Module& module) {
  for (const Computation& computation : module.computations)
    for (const Instruction& i : computation.instructions)
      if (i.shape.type != Type::tuple && elements(i.shape) > 1 << 14) return false;
  return true;
}

std::string computed(const Module& module) {
  if (!small(module)) return "large\n";
  Reals reals;
  const Held got =
      evaluate(Machine<Reals>{module, reals, module.partitions, {}}, entry(module), arguments(module, 1), {});
  Pairs pairs{7};
  const Value<Twin> twins = evaluate(Machine<Pairs>{module, pairs, module.partitions, {}}, entry(module),
                                     drawn(module, bounds_of(module), 2), {});
  return said(bounds_of(module)) + said(got) + said(twins) + fmt::format(" {} doubts\n", pairs.doubts);
}

// What is said of a text, or why it is none.
template <typename Of>
std::string attempted(const Of& of) {
  try {
    return of();
  } catch (const BadModule& bad) {
    return std::string(bad.what()) + "\n";
  } catch (const Disagreement& parted) {
    return std::string(parted.what()) + "\n";
  }
}

std::vector<std::string> opcode_programs() {
  const std::string text = read(std::filesystem::path(PLUMB_DUMPS) / "opcodes" / "opcodes.txt");
  std::vector<std::string> all;
  std::size_t n = 0;
  for (std::size_t at = 0, next; at < text.size(); at = next, ++n) {
    next = std::min(text.find("HloModule ", at + 1), text.size());
    if (n % 2 == 0) all.push_back(text.substr(at, next - at));
  }
  return all;
}

TEST(Damaged, Opcodes) {
  constexpr std::size_t each = 10, times = 24;
  const std::vector<std::string> programs = opcode_programs();
  const auto block = [&](const std::string& number) {
    Damage damage{std::mt19937_64(std::stoul(number))};
    std::string text;
    for (std::size_t n = std::stoul(number) * each;
         n < std::min(programs.size(), (std::stoul(number) + 1) * each); ++n) {
      for (std::size_t i = 0; i < times; ++i) {
        const std::string other = damaged(damage, programs[n]);
        text += attempted([&] {
          const Module module = parse(other, "m");
          return print(module) + attempted([&] { return computed(module); }) + attempted([&] {
                   return fmt::format("{} bytes\n", memory_needed({module, module, nullptr}));
                 });
        });
      }
    }
    return text;
  };
  expect_pinned(PLUMB_GOLDEN "/opcodes.txt", numbered(static_cast<int>((programs.size() + each - 1) / each)),
                block);
}

// The module before, after and as propagated; the texts are small.
struct Texts {
  std::string before, after, propagated;
};
Texts texts(const std::filesystem::path& folder) {
  std::string chosen = read(dump(folder, "after_shardy-xla"));
  if (chosen.empty()) chosen = read(dump(folder, "after_sharding-propagation"));
  return {read(dump(folder, "before_optimizations")), read(dump(folder, "after_spmd-partitioning")), chosen};
}

std::string proved(const Texts& t) {
  const Module before = parse(t.before, "before"), after = parse(t.after, "after");
  const Module propagated = parse(t.propagated, "propagated");
  const Subject subject{before, after, &propagated};
  const Proof proof = prove(subject, {.draws = 1, .redraws = 1});
  return said(proof) + said(locate(subject, proof)) + fmt::format("{} bytes\n", memory_needed(subject));
}

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& folder : dump_folders())
    if (texts(folder).after.size() < 16000 && !texts(folder).propagated.empty())
      names.push_back(std::filesystem::relative(folder, PLUMB_DUMPS).string());
  return names;
}

TEST(Damaged, Programs) {
  expect_pinned(PLUMB_GOLDEN "/programs.txt", folders, [](const std::string& name) {
    const Texts whole = texts(std::filesystem::path(PLUMB_DUMPS) / name);
    Damage damage{std::mt19937_64(fnv(name))};
    std::string text = attempted([&] { return proved(whole); });
    for (int i = 0; i < 50; ++i) {
      Texts other = whole;
      std::string& one = i % 5 == 0 ? other.before : i % 5 == 1 ? other.propagated : other.after;
      one = damaged(damage, one);
      text += attempted([&] { return proved(other); });
    }
    return text;
  });
}

// Every fault at every place where it can happen, each of which changes the module.
std::string planted_all(const std::string& text) {
  const Module module = parse(text, "after");
  const std::string as_it_was = print(module);
  std::string said;
  for (const Fault& fault : faults())
    for (std::size_t c = 0; c < module.computations.size(); ++c)
      for (std::size_t i = 0; i < module.computations[c].instructions.size(); ++i)
        if (const auto faulty = planted(module, fault, c, i)) {
          const std::string now = print(*faulty);
          EXPECT_NE(now, as_it_was) << fault.name << " at " << module.computations[c].instructions[i].name;
          said += fmt::format("{} at {} {}: {:016x}\n", fault.name, c, i, fnv(now));
        }
  return said;
}

TEST(Planted, InPrograms) {
  expect_pinned(PLUMB_GOLDEN "/planted.txt", folders, [](const std::string& name) {
    return planted_all(texts(std::filesystem::path(PLUMB_DUMPS) / name).after);
  });
}

// What some of them do, whether they are refuted, and where.
std::string harm_of_some(const Texts& t, Damage damage) {
  constexpr std::size_t some = 20;
  const Module before = parse(t.before, "before"), after = parse(t.after, "after");
  const Module propagated = parse(t.propagated, "propagated");
  const Subject subject{before, after, &propagated};
  Rightly right;
  std::string text;
  for (std::size_t n = 0, tries = 0; n < some && tries < 60 * some; ++tries) {
    const Fault& fault = faults()[damage.below(faults().size())];
    const std::size_t c = damage.below(after.computations.size()),
                      i = damage.below(after.computations[c].instructions.size());
    const auto faulty = planted(after, fault, c, i);
    if (!faulty) continue;
    ++n;
    text += fmt::format("{} at {} {}: ", fault.name, c, i) + attempted([&] {
              const Proof proof = prove({before, *faulty, &propagated}, {.draws = 1, .redraws = 1});
              return fmt::format("{} ", name(harm_of(subject, right, {*faulty, c, i}))) + said(proof) +
                     said(locate({before, *faulty, &propagated}, proof));
            });
  }
  return text;
}

TEST(Planted, DoWhatTheyDid) {
  expect_pinned(PLUMB_GOLDEN "/harm.txt", folders, [](const std::string& name) {
    return attempted([&] {
      return harm_of_some(texts(std::filesystem::path(PLUMB_DUMPS) / name), {std::mt19937_64(fnv(name) + 1)});
    });
  });
}

TEST(Planted, InOpcodes) {
  const std::vector<std::string> programs = opcode_programs();
  const auto block = [&](const std::string& number) {
    std::string text;
    for (std::size_t n = std::stoul(number); n < programs.size(); n += 8)
      text += attempted([&] { return planted_all(programs[n]); });
    return text;
  };
  expect_pinned(PLUMB_GOLDEN "/planted_opcodes.txt", numbered(8), block);
}

// What a fault makes of the root of two lines; empty where it happens nowhere there.
TEST(Planted, WhereItChangesAnything) {
  const auto planted_in = [](const char* fault, const std::string& lines) {
    const Module module = parse(
        "HloModule m, num_partitions=2\n\n%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  "
        "%b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n\nENTRY %e {\n  %x = f32[4] "
        "parameter(0)\n  %y = f32[2] "
        "parameter(1)\n" +
            lines + "}\n",
        "m");
    const auto one =
        std::ranges::find_if(faults(), [&](const Fault& f) { return std::string(f.name) == fault; });
    const auto faulty = planted(module, *one, static_cast<std::size_t>(module.entry),
                                static_cast<std::size_t>(entry(module).root));
    if (!faulty) return std::string();
    const std::string text = print(*faulty);
    return text.substr(text.rfind("ROOT"), text.rfind("\n}") - text.rfind("ROOT"));
  };
  const auto slice = [&](const std::string& of) {
    const std::string text =
        planted_in("a slice shifted", "  ROOT %r = f32[2] slice(%x), slice={" + of + "}\n");
    return text.empty() ? text : text.substr(text.find("slice={") + 6);
  };
  EXPECT_EQ(slice("[0:2]"), "{[1:3]}");
  EXPECT_EQ(slice("[1:3]"), "{[2:4]}");
  EXPECT_EQ(slice("[2:4]"), "{[1:3]}");
  EXPECT_EQ(planted_in("a slice shifted", "  ROOT %r = f32[4] slice(%x), slice={[0:4]}\n"), "");
  const std::string sum = "  ROOT %r = f32[4] all-reduce(%x), replica_groups={{0,1}}, to_apply=%add";
  EXPECT_EQ(planted_in("a channel dropped", sum + "\n"), "") << "it has none";
  EXPECT_NE(planted_in("a channel dropped", sum + ", channel_id=1\n"), "");
  EXPECT_EQ(planted_in("global ids dropped", sum + ", channel_id=1\n"), "") << "it has none";
  EXPECT_NE(planted_in("global ids dropped", sum + ", channel_id=1, use_global_device_ids=true\n"), "");
  const char* const exchanged = "parts of a concatenation exchanged";
  const auto joined = [](const std::string& parts) {
    return "  %z = f32[4] copy(%x)\n  ROOT %r = f32[" + std::string(parts == "%x, %y" ? "6" : "8") +
           "] concatenate(" + parts + "), dimensions={0}\n";
  };
  EXPECT_NE(planted_in(exchanged, joined("%x, %z")).find("concatenate(%z, %x)"), std::string::npos);
  EXPECT_EQ(planted_in(exchanged, joined("%x, %y")), "") << "of two sizes";
  EXPECT_EQ(planted_in(exchanged, joined("%x, %x")), "") << "the same twice";
  EXPECT_EQ(planted_in(exchanged, "  ROOT %r = f32[4] concatenate(%x), dimensions={0}\n"), "") << "of one";
}

// Law: what has no real value hides nothing. Here a sum is lost whose root would be of a negative number.
TEST(Harm, IsSeenThroughRootsOfNegativeNumbers) {
  const auto module = [](const std::string& size, const std::string& sum, const std::string& laid) {
    const std::string lines =
        "HloModule m, num_partitions=2\n\n%add (a: f32[], b: f32[]) -> f32[] {\n"
        "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
        "  ROOT %s = f32[] add(%a, %b)\n}\n\nENTRY %e {\n  %x = f32[" +
        size + "] parameter(0), sharding={devices=[2]<=[2]}\n  %z = f32[] constant(0)\n" +
        "  %p = f32[] reduce(%x, %z), dimensions={0}, to_apply=%add\n" + sum +
        "  %m = f32[] abs(%t)\n  %n = f32[] negate(%m)\n  ROOT %r = f32[] sqrt(%n)" + laid + "\n}\n";
    return parse(lines, "m");
  };
  const std::string lost = "  %t = f32[] copy(%p)\n",
                    whole =
                        "  %t = f32[] all-reduce(%p), channel_id=1, replica_groups={{0,1}}, "
                        "use_global_device_ids=true, to_apply=%add\n";
  const Module before = module("4", lost, ", sharding={replicated}"), after = module("2", whole, ""),
               faulty = module("2", lost, "");
  const Subject subject{before, after, nullptr};
  EXPECT_EQ(name(prove(subject, {}).finding), "proven");
  Rightly right;
  EXPECT_EQ(name(harm_of(subject, right, {faulty, 1, 3})), "moved");
}

// What a program of `lines` needs on so many devices; each holds its own number %own, f32[64].
std::int64_t needed(int devices, const std::string& lines) {
  const Module module =
      parse("HloModule m, num_partitions=" + std::to_string(devices) +
                "\n\n%add (a: f32[], b: f32[]) -> f32[] {\n"
                "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
                "  ROOT %s = f32[] add(%a, %b)\n}\n\nENTRY %e {\n  %x = f32[64] parameter(0)\n"
                "  %id = u32[] partition-id()\n  %two = u32[] constant(2)\n" +
                lines + "\n}\n",
            "m");
  return memory_needed({module, module, nullptr});
}

// Law: while it sums, a program needs as much again as it sums; while it sends, it does not.
TEST(Memory, OfASumOfFloatsIsThatOfItsResult) {
  const auto of = [](const std::string& line) {
    return needed(
        2, "  %n = f32[] convert(%id)\n  %own = f32[64] broadcast(%n), dimensions={}\n  ROOT %r = f32[64] " +
               line);
  };
  const std::int64_t sent = of("collective-permute(%own), channel_id=1, source_target_pairs={{0,1},{1,0}}");
  EXPECT_EQ(of("all-to-all(%own), channel_id=1, replica_groups={{0,1}}, dimensions={0}"), sent);
  const std::string groups = "channel_id=1, replica_groups={{0,1}}";
  EXPECT_EQ(of("all-reduce(%own), use_global_device_ids=true, to_apply=%add, " + groups),
            of("collective-broadcast(%own), " + groups));
}

// Law: what devices hold alike is held once, whoever tells that it is alike: nobody, a group, their offsets.
TEST(Memory, ByWhoeverItIsToldThatItIsAlike) {
  const auto spread = [](const std::string& from) {
    return "  %n = f32[] convert(" + from + ")\n  %own = f32[64] broadcast(%n), dimensions={}\n";
  };
  const auto grows = [](const std::string& lines) {
    return static_cast<double>(needed(64, lines)) / static_cast<double>(needed(2, lines));
  };
  EXPECT_LT(grows("  ROOT %r = f32[64] negate(%x)"), 1.5);
  EXPECT_GT(grows(spread("%id") + "  ROOT %r = f32[64] negate(%own)"), 16);
  EXPECT_LT(
      grows("  %half = u32[] remainder(%id, %two)\n" + spread("%half") + "  ROOT %r = f32[64] negate(%own)"),
      1.5);
  const std::string sum =
      spread("%id") + "  %s = f32[64] all-reduce(%own), channel_id=1, replica_groups={}, to_apply=%add\n";
  const std::string more =
      "  %wide = f32[64,64] broadcast(%s), dimensions={0}\n  ROOT %r = f32[64,64] negate(%wide)";
  EXPECT_LT(grows(sum + more), 4);
}

}  // namespace
}  // namespace plumb::hlo
