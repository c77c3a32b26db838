#include "harness/command/proof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reference/words/fnv.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

std::string place(const hlo::Integers& index) {
  return index.empty() ? "" : fmt::format(" at [{}]", fmt::join(index, ","));
}

std::string in_words(const hlo::Difference& d) {
  return fmt::format("result {} {}: {} on {}; the first on device {}{}", d.result, print(d.shape),
                     counted(d.elements, "element"), counted(d.devices, "device"), d.device, place(d.index));
}

std::string in_words(const hlo::Place& at) {
  return fmt::format("    at     {}  {}  {}\n    there  {}\n", at.instruction, at.source, at.op_name,
                     at.there.empty() ? "no collective" : at.there);
}

std::string extent(const hlo::Proof& proof) {
  return fmt::format("{}, {} on all devices together{}", counted(proof.results, "result"),
                     counted(proof.elements, "element"), proof.as_propagated ? "; layout as propagated" : "");
}

// "proven", or apart what is proven for less: "proven (2 folded constants, 1 way not taken)".
std::string verdict_of(const hlo::Proof& proof) {
  std::vector<std::string> apart;
  if (!proof.folded.empty()) apart.push_back(counted(std::ssize(proof.folded), "folded constant"));
  if (!proof.untaken.empty() && proof.finding == hlo::Finding::proven)
    apart.push_back(counted(std::ssize(proof.untaken), "way") + " not taken");
  return fmt::format("{}{}", name(proof.finding),
                     apart.empty() ? "" : fmt::format(" ({})", fmt::join(apart, ", ")));
}

constexpr const char* kScope =
    "for these sizes; what integers decide is tested, not proven; rounding is not looked at";

}  // namespace

std::string proof_key(const hlo::Module& before, const hlo::Module& after) {
  return fmt::format("prove {:016x} {:016x}", fnv(print(before)), fnv(print(after)));
}

std::string in_words(const ProofReport& report) {
  const hlo::Proof& proof = report.proof;
  const bool proven = proof.finding == hlo::Finding::proven;
  const std::string draws = proof.finding == hlo::Finding::refuted ? fmt::format("draw {}", proof.draws)
                                                                   : counted(proof.draws, "draw");
  std::string text = fmt::format("{}  {}, {}, {}\n", verdict_of(proof), report.subject,
                                 counted(proof.devices, "device"), draws);
  if (!proof.why.empty()) text += fmt::format("    {}\n", proof.why);
  if (proven) text += fmt::format("    {}\n", extent(proof));
  for (const hlo::Difference& d : proof.differences) text += fmt::format("    {}\n", in_words(d));
  if (!report.pass.empty()) text += fmt::format("    pass   {}\n", report.pass);
  if (report.place) text += in_words(*report.place);
  for (const std::string& constant : proof.folded) text += fmt::format("    {}\n", constant);
  constexpr std::size_t kShown = 4;
  for (std::size_t n = 0; n < std::min(kShown, proof.untaken.size()); ++n)
    text += fmt::format("    no draw took {}\n", proof.untaken[n]);
  if (proof.untaken.size() > kShown)
    text += fmt::format("    nor {} more, which --json lists\n", proof.untaken.size() - kShown);
  if (proven && !proof.integers.empty()) {
    const std::size_t shown = std::min(kShown, proof.integers.size());
    text += fmt::format(
        "    drawn  {}{}\n",
        fmt::join(proof.integers.begin(), proof.integers.begin() + static_cast<std::ptrdiff_t>(shown), "; "),
        shown < proof.integers.size() ? "; ..." : "");
  }
  if (proven && !proof.unanswered.empty())
    text += fmt::format("    {} of integers had one answer in every draw\n",
                        counted(std::ssize(proof.unanswered), "comparison"));
  if (proven && !proof.borders.empty())
    text += fmt::format("    {} of integers came to where {} in no draw: one off by one may be here\n",
                        counted(std::ssize(proof.borders), "comparison"),
                        proof.borders.size() == 1 ? "it turns" : "they turn");
  if (proven && !proof.apart.empty()) {
    const double most =
        std::ranges::max_element(proof.apart, {}, [](const auto& one) { return one.second; })->second;
    text += fmt::format(
        "    {} of floats came no nearer to where {} than {:.2g} %: a limit off by less may be here\n",
        counted(std::ssize(proof.apart), "comparison"), proof.apart.size() == 1 ? "it turns" : "they turn",
        100 * most);
  }
  if (proven && !proof.unshown.empty())
    text += fmt::format(
        "    {} of floats decided nothing that a result shows where {}: another limit may be here\n",
        counted(std::ssize(proof.unshown), "comparison"),
        proof.unshown.size() == 1 ? "it turns" : "they turn");
  return text + (proven ? fmt::format("    {}\n", kScope) : fmt::format("    again: {}\n", report.again));
}

std::string json_text(const ProofReport& report) {
  const hlo::Proof& proof = report.proof;
  json differences = json::array();
  for (const hlo::Difference& d : proof.differences)
    differences.push_back({
        {"device",   d.device      },
        {"devices",  d.devices     },
        {"elements", d.elements    },
        {"index",    d.index       },
        {"result",   d.result      },
        {"shape",    print(d.shape)}
    });
  json j = {
      {"again",         report.again       },
      {"apart",         proof.apart        },
      {"as_propagated", proof.as_propagated},
      {"borders",       proof.borders      },
      {"bytes",         report.bytes       },
      {"devices",       proof.devices      },
      {"differences",   differences        },
      {"draws",         proof.draws        },
      {"elements",      proof.elements     },
      {"finding",       name(proof.finding)},
      {"folded",        proof.folded       },
      {"integers",      proof.integers     },
      {"key",           report.key         },
      {"module",        report.module      },
      {"results",       proof.results      },
      {"seconds",       report.seconds     },
      {"seed",          proof.seed         },
      {"text",          in_words(report)   },
      {"unanswered",    proof.unanswered   },
      {"unshown",       proof.unshown      },
      {"untaken",       proof.untaken      },
      {"verdict",       verdict_of(proof)  },
      {"why",           proof.why          }
  };
  if (!report.pass.empty()) j["pass"] = report.pass;
  for (const PassFound& one : report.passes)
    j["passes"].push_back({
        {"finding", one.finding},
        {"pass",    one.pass   }
    });
  if (report.place)
    j["place"] = {
        {"instruction", report.place->instruction},
        {"op_name",     report.place->op_name    },
        {"source",      report.place->source     },
        {"there",       report.place->there      }
    };
  return dump(j);
}

Record record_of(const ProofReport& report) {
  const hlo::Proof& proof = report.proof;
  const Status status = proof.finding == hlo::Finding::proven    ? Status::pass
                        : proof.finding == hlo::Finding::refuted ? Status::wrong
                                                                 : Status::mistrusted;
  Record record;
  record.line = report.key;
  record.backend = "xla";
  record.versions = {
      {"module", report.module}
  };
  record.verdict.status = status;
  record.verdict.untraced = true;
  if (status != Status::pass) {
    for (const hlo::Difference& d : proof.differences)
      record.verdict.facts.push_back(fact(status, in_words(d)));
    if (record.verdict.facts.empty()) record.verdict.facts.push_back(fact(status, proof.why));
    for (Fact& one : record.verdict.facts) one.seed = proof.seed;
  }
  if (!report.pass.empty()) record.notes.push_back("the first pass that is not proven: " + report.pass);
  if (report.place)
    record.notes.push_back(fmt::format("at {} {} {}; there {}", report.place->instruction,
                                       report.place->source, report.place->op_name, report.place->there));
  if (proof.finding == hlo::Finding::unsettled) record.notes.push_back("unsettled: no real differs");
  if (proof.finding == hlo::Finding::proven && !proof.untaken.empty())
    record.notes.push_back(verdict_of(proof));
  for (const std::string& constant : proof.folded) record.notes.push_back(constant);
  for (const std::string& path : proof.untaken) record.notes.push_back("no draw took " + path);
  record.times.judge = report.seconds;
  record.certificate = status == Status::pass
                           ? fmt::format("{}, {}; {}", extent(proof), counted(proof.draws, "draw"), kScope)
                           : std::string();
  return record;
}

}  // namespace plumb
