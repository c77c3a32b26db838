// One case, one backend, what came of it: one JSON line. results/README.md is the schema.
#pragma once

#include <string>

#include "adapters/protocol/json.h"
#include "adapters/protocol/outcome.h"
#include "harness/judge/limits.h"
#include "harness/judge/verdict.h"
#include "harness/record/repetition.h"
#include "harness/trace/cost.h"
#include "harness/trace/merge.h"
#include "reference/fill/fill.h"

namespace plumb {

constexpr int record_schema = 2;  // 1 is read too: its members, and no other status than those of 2

struct Times {  // seconds
  double fill = 0, reference = 0, backend = 0, compile = 0, judge = 0;
  std::vector<double> run;
};

struct Record {
  std::string line;     // the canonical case
  std::string backend;  // the resolved name: with the line, the key
  std::string program;  // the name that it says in its hello
  std::string run;      // origin.h; empty where no line says where it comes from
  nlohmann::json versions = nlohmann::json::object();
  int data = data_generation;  // of the data judged; 1 where an older record does not say
  Limits limits;
  Verdict verdict;
  Trace trace;
  Cost cost;
  Collectives collectives;
  std::optional<bool> replica_safe;
  Times times;
  std::optional<Repetition> bench;  // of plumb bench: under the clock; none of a case that did not pass
  std::string certificate;          // the derivation
  std::string scope;                // any split, this split, none
  std::optional<Shown> shown;       // where the data show fewer bits than the operands have
  std::string engine;               // by which the backend says it adds up products; empty: IEEE
  std::vector<std::string> notes;
  std::string last_words;              // of a backend that died, hung or reneged
  std::vector<std::string> processes;  // of one that hung: a line each, with what it waits in
  nlohmann::json environment{};        // of one that was read
  std::vector<std::int64_t> ranks;     // of one that hung: those for which the others wait, as it says
};

// One line, written as text: a record is written far more often than it is looked into. The environment is
// JSON. Law: parsed and read it is the record again, where its texts are UTF-8. The key is "LINE" on
// "BACKEND".
std::string json_text(const Record&, std::string_view environment);
Record record_from_json(const nlohmann::json&);  // throws BadInput with what is missing

// Whether the verdict of a record holds under these limits: where they are its own, and its data those of
// today. The time given decides whether a case is `hung`, and nothing else.
bool holds_under(const Record&, const Limits&);

std::string record_key(const std::string& line, const std::string& backend);

}  // namespace plumb
