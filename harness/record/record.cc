#include "harness/record/record.h"

#include <fmt/format.h>

#include "adapters/protocol/fields.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

using plumb::json_text;  // of texts

// Members stand in the order of the alphabet here, as nlohmann/json writes them.
std::string json_text(const Place& p) {
  return fmt::format(
      R"({{"coordinates":{},"device":{},"devices":{},"elements":{},"got":{},"index":[{}],"want":{}}})",
      json_text(p.coordinates), p.device, p.devices, p.elements, json_text(p.got), fmt::join(p.index, ","),
      json_text(p.want));
}

Place place_from_json(const json& j) {
  return {integer(field(j, "devices"), "devices"),
          integer(field(j, "elements"), "elements"),
          integer(field(j, "device"), "device"),
          text(field(j, "coordinates"), "coordinates"),
          integers(field(j, "index"), "index"),
          text(field(j, "want"), "want"),
          text(field(j, "got"), "got")};
}

std::string json_text(const Cause&);
std::string json_text(const Explanation&);
std::string json_text(const Fact&);

template <class T>
std::string listed(const std::vector<T>& all) {
  std::string text = "[";
  for (const T& one : all) text += (text.size() > 1 ? "," : "") + json_text(one);
  return text + "]";
}

std::string json_text(const Cause& cause) {
  Members m;
  if (!cause.axes.empty()) m.add("axes", dump(cause.axes));
  m.add("code", json_text(cause.code));
  if (cause.operand >= 0) m.add("operand", cause.operand);
  return std::move(m).whole();
}

Cause cause_from_json(const json& j) {
  Cause cause{text(field(j, "code"), "code")};
  if (const json* axes = optional_field(j, "axes")) cause.axes = texts(*axes, "axes");
  if (const json* of = optional_field(j, "operand")) cause.operand = static_cast<int>(count(*of, "operand"));
  return cause;
}

std::string json_text(const Explanation& explanation) {
  Members m;
  m.add("causes", listed(explanation.causes));
  if (!explanation.error.empty()) m.add("error", json_text(explanation.error));
  return std::move(m).whole();
}

Explanation explanation_from_json(const json& j) {
  Explanation explanation;
  for (const json& one : list(field(j, "causes"), "causes"))
    explanation.causes.push_back(cause_from_json(one));
  if (const json* error = optional_field(j, "error")) explanation.error = text(*error, "error");
  return explanation;
}

std::string json_text(const Fact& fact) {
  Members m;
  if (!fact.bound.empty()) m.add("bound", json_text(fact.bound));
  if (!fact.cause.empty()) m.add("cause", json_text(fact.cause));
  if (!fact.explanations.empty()) m.add("explanations", listed(fact.explanations));
  if (fact.place) m.add("place", json_text(*fact.place));
  if (fact.seed) m.add("seed", *fact.seed);
  m.add("status", json_text(name(fact.status)));
  m.add("text", json_text(fact.text));
  return std::move(m).whole();
}

Status status_from_json(const json& j) {
  const std::string& word = text(j, "status");
  const auto status = status_named(word);
  if (!status) throw Malformed(fmt::format("there is no status \"{}\"", word));
  return *status;
}

Fact fact_from_json(const json& j) {
  Fact made = fact(status_from_json(field(j, "status")), text(field(j, "text"), "text"));
  if (const json* place = optional_field(j, "place")) made.place = place_from_json(*place);
  if (const json* cause = optional_field(j, "cause")) made.cause = text(*cause, "cause");
  if (const json* all = optional_field(j, "explanations"))
    for (const json& one : list(*all, "explanations"))
      made.explanations.push_back(explanation_from_json(one));
  if (const json* bound = optional_field(j, "bound")) made.bound = text(*bound, "bound");
  if (const json* seed = optional_field(j, "seed")) {
    if (!seed->is_number_unsigned()) throw Malformed("seed is not an integer from 0 to 2^64-1");
    made.seed = seed->get<std::uint64_t>();
  }
  return made;
}

// Numbers that are not known are left out.
std::string json_text(const Cost& cost) {
  Members m;
  if (cost.best_known >= 0) m.add("best_known", cost.best_known);
  if (cost.bound >= 0) m.add("bound", cost.bound);
  if (cost.moved >= 0) m.add("moved", cost.moved);
  return std::move(m).whole();
}

// Those that are not the default.
std::string json_text(const Limits& limits) {
  Members m;
  if (limits.max_collectives >= 0) m.add("max_collectives", limits.max_collectives);
  if (limits.max_waste >= 0) m.add("max_waste", limits.max_waste);
  if (limits.reruns > 0) m.add("reruns", limits.reruns);
  if (limits.timeout > 0) m.add("timeout", limits.timeout);
  return std::move(m).whole();
}

Limits limits_from_json(const json& j) {
  Limits limits;
  if (const json* v = optional_field(j, "max_waste")) limits.max_waste = seconds(*v, "max_waste");
  if (const json* v = optional_field(j, "max_collectives"))
    limits.max_collectives = seconds(*v, "max_collectives");
  if (const json* v = optional_field(j, "reruns")) limits.reruns = static_cast<int>(count(*v, "reruns"));
  if (const json* v = optional_field(j, "timeout")) limits.timeout = seconds(*v, "timeout");
  return limits;
}

std::int64_t known(const json& j, std::string_view name) {
  const json* value = optional_field(j, name);
  return value ? count(*value, name) : -1;
}

Collectives collectives_from_json(const json& j) {
  Collectives c{known(j, "issued"), known(j, "merged"), {}};
  if (const json* could = optional_field(j, "could")) c.could = texts(*could, "could");
  return c;
}

std::string json_text(const Times& t) {
  return fmt::format(R"({{"backend":{},"compile":{},"fill":{},"judge":{},"reference":{},"run":[{}]}})",
                     t.backend, t.compile, t.fill, t.judge, t.reference, fmt::join(t.run, ","));
}

Times times_from_json(const json& j) {
  Times times{seconds(field(j, "fill"), "fill"),       seconds(field(j, "reference"), "reference"),
              seconds(field(j, "backend"), "backend"), seconds(field(j, "compile"), "compile"),
              seconds(field(j, "judge"), "judge"),     {}};
  for (const json& run : list(field(j, "run"), "run")) times.run.push_back(seconds(run, "run"));
  return times;
}

Verdict verdict_from_json(const json& j) {
  Verdict v{status_from_json(field(j, "status")), {}, false, false};
  for (const json& fact : list(field(j, "facts"), "facts")) v.facts.push_back(fact_from_json(fact));
  if (const json* judged = optional_field(j, "judged")) {
    for (const std::string& word : texts(*judged, "judged")) {
      v.plan |= word == "plan";
      v.alone |= word == "one device";
      v.clones |= word == "clones";
      v.untraced |= word == "no trace";
    }
  }
  if (const json* rounded = optional_field(j, "rounded")) v.rounded = count(*rounded, "rounded");
  if (const json* proved = optional_field(j, "proved")) v.in_place = text(*proved, "proved") == "in place";
  return v;
}

// What a verdict rests on, where it is not all there is to judge.
std::vector<std::string> judged_in_words(const Verdict& v) {
  std::vector<std::string> words;
  if (v.plan) words.push_back("plan");
  if (v.alone) words.push_back("one device");
  if (v.clones) words.push_back("clones");
  if (v.rounded > 0) words.push_back("bound");
  if (v.untraced) words.push_back("no trace");
  return words;
}

std::string json_text(const Shown& s) {
  return fmt::format(R"({{"left":{},"right":{},"sum":{}}})", s.operand[0], s.operand[1], s.sum);
}

Shown shown_from_json(const json& j) {
  const auto bits = [&](const char* of) { return static_cast<int>(count(field(j, of), of)); };
  return {
      {bits("left"), bits("right")},
      bits("sum")
  };
}

std::string json_text(const Collectives& c) {
  return fmt::format(R"({{"could":{},"issued":{},"merged":{}}})", dump(c.could), c.issued, c.merged);
}

Record parse(const json& j) {
  if (!j.is_object()) throw Malformed("it is no object");
  if (const auto schema = integer(field(j, "schema"), "schema"); schema < 1 || schema > record_schema)
    throw Malformed(fmt::format("schema {}, and this reads 1 to {}", schema, record_schema));
  Record r;
  r.line = text(field(j, "case"), "case");
  r.backend = text(field(j, "backend"), "backend");
  r.versions = field(j, "versions");
  const json* data = optional_field(j, "data");
  r.data = data ? static_cast<int>(count(*data, "data")) : 1;
  if (const json* limits = optional_field(j, "limits")) r.limits = limits_from_json(*limits);
  r.verdict = verdict_from_json(j);
  if (!r.verdict.untraced)
    for (const json& one : list(field(j, "trace"), "trace")) r.trace.push_back(collective_from_json(one));
  const json& bytes = field(j, "bytes");
  r.cost = {known(bytes, "moved"), known(bytes, "bound"), known(bytes, "best_known")};
  if (const json* count = optional_field(j, "collectives")) r.collectives = collectives_from_json(*count);
  if (const json* safe = optional_field(j, "replica_safe")) r.replica_safe = truth(*safe, "replica_safe");
  r.times = times_from_json(field(j, "seconds"));
  if (const json* bench = optional_field(j, "bench")) r.bench = repetition_from_json(*bench, r.line);
  if (r.bench && r.verdict.status != Status::pass)
    throw Malformed(fmt::format("it has times, and is {}: a pass alone has some", name(r.verdict.status)));
  if (const json* made_by = optional_field(j, "environment")) r.environment = *made_by;
  r.certificate = text(field(j, "certificate"), "certificate");
  r.scope = text(field(j, "scope"), "scope");
  if (const json* shown = optional_field(j, "shown")) r.shown = shown_from_json(*shown);
  if (const json* engine = optional_field(j, "engine")) r.engine = text(*engine, "engine");
  r.notes = texts(field(j, "notes"), "notes");
  if (const json* lines = optional_field(j, "processes")) r.processes = texts(*lines, "processes");
  if (const json* ranks = optional_field(j, "ranks")) r.ranks = integers(*ranks, "ranks");
  if (const json* name = optional_field(j, "program")) r.program = text(*name, "program");
  if (const json* run = optional_field(j, "run")) r.run = text(*run, "run");
  if (const json* words = optional_field(j, "last_words")) r.last_words = text(*words, "last_words");
  return r;
}

}  // namespace

std::string json_text(const Record& r, std::string_view environment) {
  Members m;
  m.add("backend", json_text(r.backend));
  if (r.bench) m.add("bench", json_text(*r.bench, r.line));
  m.add("bytes", json_text(r.cost));
  m.add("case", json_text(r.line));
  m.add("certificate", json_text(r.certificate));
  if (r.collectives.issued > 0) m.add("collectives", json_text(r.collectives));
  m.add("data", r.data);
  if (!r.engine.empty()) m.add("engine", json_text(r.engine));
  m.add("environment", environment);
  m.add("facts", listed(r.verdict.facts));
  if (const auto words = judged_in_words(r.verdict); !words.empty()) m.add("judged", dump(words));
  if (!r.last_words.empty()) m.add("last_words", json_text(r.last_words));
  if (const std::string limits = json_text(r.limits); limits != "{}") m.add("limits", limits);
  m.add("notes", r.notes.empty() ? "[]" : dump(r.notes));
  if (!r.processes.empty()) m.add("processes", dump(r.processes));
  if (!r.program.empty()) m.add("program", json_text(r.program));
  if (r.verdict.in_place) m.add("proved", R"("in place")");
  if (!r.ranks.empty()) m.add("ranks", dump(r.ranks));
  if (r.replica_safe) m.add("replica_safe", *r.replica_safe);
  if (r.verdict.rounded > 0) m.add("rounded", r.verdict.rounded);
  if (!r.run.empty()) m.add("run", json_text(r.run));
  m.add("schema", record_schema);
  m.add("scope", json_text(r.scope));
  m.add("seconds", json_text(r.times));
  if (r.shown) m.add("shown", json_text(*r.shown));
  m.add("status", json_text(name(r.verdict.status)));
  if (!r.verdict.untraced) m.add("trace", listed(r.trace));
  m.add("versions", dump(r.versions));
  return std::move(m).whole();
}

bool holds_under(const Record& r, const Limits& limits) {
  return r.data == data_generation && r.limits.max_waste == limits.max_waste &&
         r.limits.max_collectives == limits.max_collectives && r.limits.reruns == limits.reruns &&
         (r.verdict.status != Status::hung || r.limits.timeout == limits.timeout);
}

Record record_from_json(const json& j) {
  try {
    return parse(j);
  } catch (const Malformed& error) {
    throw BadInput(error.what());
  }
}

std::string record_key(const std::string& line, const std::string& backend) {
  return fmt::format("{} on {}", line, backend);
}

}  // namespace plumb
