#include "harness/run/examine.h"

#include <fmt/format.h>

#include "harness/diagnose/diagnose.h"
#include "harness/judge/blocks.h"
#include "harness/judge/claimed.h"
#include "harness/judge/contradiction.h"
#include "harness/judge/limits.h"
#include "harness/judge/proved.h"
#include "harness/judge/resolver.h"
#include "harness/run/timed.h"
#include "harness/trace/replica_safe.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

const char* scope_in_words(Certificate::Scope scope) {
  switch (scope) {
    case Certificate::Scope::any_split:
      return "any split";
    case Certificate::Scope::this_split:
      return "this split";
    case Certificate::Scope::none:
      return "none";
  }
  return "";
}

struct NoResult {
  std::string operator()(const Hung& a) const {
    return a.what.empty() ? fmt::format("no reply within {:g} seconds of {}", a.seconds, a.phase) : a.what;
  }
  std::string operator()(const OffPage& a) const { return fmt::format("{} (in {})", a.what, a.phase); }
  std::string operator()(const Crashed& a) const { return fmt::format("{} (in {})", a.what, a.phase); }
  std::string operator()(const auto&) const { return ""; }
};

// What one attempt says by itself; of an outcome, all but what it moved.
struct Said {
  const Attempt& made;
  const Declared& declared;
  Record record;

  void fail(Status status, std::string text, std::string last_words) {
    record.verdict.facts.push_back(fact(status, std::move(text)));
    record.verdict.status = status;
    record.last_words = std::move(last_words);
  }
  void operator()(const Unsupported& a) {
    fail(Status::unsupported, a.source.empty() ? a.reason : fmt::format("{} ({})", a.reason, a.source), "");
  }
  void operator()(const Reneged& a) { fail(Status::reneged, a.message, a.detail); }
  void operator()(const Refused& a) {
    record.verdict = judge_refusal(made.c, a.message);
    record.last_words = a.detail;
    if (record.verdict.facts.empty()) record.notes.push_back("refused: " + a.message);
  }
  void operator()(const Hung& a) {
    fail(Status::hung, NoResult{}(a), a.last_words);
    record.processes = a.processes;
    record.ranks = a.ranks;
  }
  void operator()(const OffPage& a) { fail(Status::malformed, NoResult{}(a), a.last_words); }
  void operator()(const Crashed& a) { fail(Status::crashed, NoResult{}(a), a.last_words); }
  void operator()(const Outcome& outcome) {
    record.notes = outcome.notes;
    record.times.run = outcome.run_seconds;
    if (is_resolve(made.c))
      record.verdict = timed(record.times.judge, [&] { return judge_resolver(made.c, outcome); });
    else
      judged(outcome);
  }
  Verdict compared(const Outcome& outcome, const Certificate& proof) {
    const std::vector<Tensor> wholes =
        timed(record.times.reference, [&] { return evaluate_all(made.c, made.operands); });
    return timed(record.times.judge, [&] {
      return diagnose({made.c, made.operands, wholes, proof}, outcome, made.read, declared);
    });
  }
  void judged(const Outcome& outcome) {
    const Case& c = made.c;
    const Certificate proof = certificate(c);
    record.certificate = proof.text;
    record.scope = scope_in_words(proof.scope);
    if (proof.shown && shows_less(c, *proof.shown)) record.shown = proof.shown;
    if (outcome.traced) record.trace = outcome.trace;
    record.times.compile = outcome.compile_seconds;
    if (declared.engine != Engine::ieee) record.engine = model(declared.engine).name;
    if (const std::int64_t rows = masked_rows(c, declared))
      record.notes.push_back(
          fmt::format("{} rows of the tail are masked: the backend leaves them undefined", rows));
    record.verdict =
        made.proofs.empty() ? compared(outcome, proof) : *judge_proved(c, outcome, made.proofs, declared);
    record.verdict.untraced = !outcome.traced;
    if (made.refuted && record.verdict.status == Status::pass && masked_rows(c, declared) == 0)
      record.notes.push_back("the program refuted where it lay what is right: its proof is wrong");
  }
};

Record said(const Attempt& made, const Declared& declared) {
  Said said{made, declared, {}};
  std::visit(said, made.answer);
  return std::move(said.record);
}

void add(Record& record, std::optional<Fact> fact) {
  if (fact) record.verdict.facts.push_back(std::move(*fact));
}

// What an outcome moved: whether that can have made the result, and whether it is within the limits.
void weigh(Record& record, const Case& c, const Outcome& outcome, const Declared& declared) {
  record.cost = cost(c, outcome);
  const Case claimed = as_claimed(c, outcome);
  if (record.verdict.status == Status::pass && !declared.data_none) {
    auto doubt = short_fact(result(c).free ? cost(claimed, outcome) : record.cost);
    add(record, doubt ? std::move(doubt) : contradiction(claimed, outcome, record.verdict));
  }
  add(record, waste_fact(c, record.cost, record.limits.max_waste));
  if (outcome.traced) record.collectives = collectives_of(claimed, outcome);
  add(record, count_fact(record.collectives, record.limits.max_collectives));
  if (record.verdict.facts.empty()) add(record, unjudged_fact(c, record.cost, record.limits));
  record.replica_safe = replica_safe(claimed, outcome.trace);
}

}  // namespace

void add_other(Record& record, const Attempt& other, const Declared& declared) {
  Record on_other = said(other, declared);
  for (Fact& fact : on_other.verdict.facts) {
    if (fact.status >= Status::mistrusted) continue;  // a doubt about data is one about these alone
    if (fact.status == Status::unsupported) fact.status = Status::reneged;
    fact.seed = other.c.seed;
    record.verdict.facts.push_back(std::move(fact));
  }
  if (record.last_words.empty()) record.last_words = std::move(on_other.last_words);
}

namespace {

void compare(Record& record, const Attempts& made, const Declared& declared) {
  const std::uint64_t first = digest_of_attempt(made.first, declared);
  for (std::size_t i = 0; i < made.again.size(); ++i) {
    const bool outcome = std::holds_alternative<Outcome>(made.again[i].answer);
    if (outcome && digest_of_attempt(made.again[i], declared) == first) continue;
    const char* came = outcome ? "other bits" : "no result";
    add(record, fact(Status::unstable, fmt::format("rerun {} gave {}", i + 1, came)));
    return;
  }
}

}  // namespace

std::string no_result_in_words(const Answer& answer) { return std::visit(NoResult{}, answer); }

Declared declared(const Capabilities& capabilities) {
  Declared d;
  d.clones = capabilities.clones;
  d.tail_undefined = capabilities.tail_undefined;
  d.acc_unspecified = capabilities.acc.unspecified;
  d.wire_unspecified = capabilities.wire.unspecified;
  d.parts_rounded = capabilities.parts_rounded;
  d.engine = capabilities.engine;
  d.data_none = capabilities.plans_only;
  return d;
}

Tensor whole_result(const Attempt& made) {
  const auto& outcome = std::get<Outcome>(made.answer);
  const Case c = as_claimed(made.c, outcome);
  Tensor whole = zeros(result(c).dtype, shape(result(c)));
  for (const Block& block : outcome.blocks) {
    const Held one = held(c, block, made.read);
    if (elements(one.slice()) * format(whole.dtype).bytes == std::ssize(one.bytes))
      paste(whole.shape, one.slice(), one.bytes.data(), whole.bytes.data(), format(whole.dtype).bytes);
  }
  return whole;
}

std::uint64_t digest_of_attempt(const Attempt& made, const Declared& declared) {
  const auto& outcome = std::get<Outcome>(made.answer);
  const Case claimed = as_claimed(made.c, outcome);
  return digest_of_blocks(outcome, masked(claimed, made.read, declared));
}

Record examine(const Attempts& made, const Declared& declared, const Limits& limits) {
  const Case& c = made.first.c;
  Record record = said(made.first, declared);
  record.line = print(c);
  record.limits = limits;
  record.times.fill = made.first.fill_seconds;
  record.times.backend = made.first.ask_seconds;
  const auto* outcome = std::get_if<Outcome>(&made.first.answer);
  if (!outcome || is_resolve(c)) return record;
  weigh(record, c, *outcome, declared);
  if (made.other) add_other(record, *made.other, declared);
  if (!made.again.empty()) compare(record, made, declared);
  decide(record.verdict);
  return record;
}

}  // namespace plumb
