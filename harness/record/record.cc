#include "harness/record/record.h"

#include <fmt/format.h>

#include "adapters/protocol/fields.h"
#include "reference/words/text.h"

namespace plumb {

using nlohmann::json;

namespace {

json to_json(const Place& place) {
  return {
      {"devices",     place.devices    },
      {"elements",    place.elements   },
      {"device",      place.device     },
      {"coordinates", place.coordinates},
      {"index",       place.index      },
      {"want",        place.want       },
      {"got",         place.got        }
  };
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

json to_json(const Fact& fact) {
  json j = {
      {"status", name(fact.status)},
      {"text",   fact.text        }
  };
  if (fact.place) j["place"] = to_json(*fact.place);
  if (!fact.cause.empty()) j["cause"] = fact.cause;
  if (!fact.bound.empty()) j["bound"] = fact.bound;
  return j;
}

Status status_from_json(const json& j) {
  const std::string& word = text(j, "status");
  const auto status = status_named(word);
  if (!status) throw Malformed(fmt::format("there is no status \"{}\"", word));
  return *status;
}

Fact fact_from_json(const json& j) {
  Fact fact{status_from_json(field(j, "status")), text(field(j, "text"), "text"), {}, {}};
  if (const json* place = optional_field(j, "place")) fact.place = place_from_json(*place);
  if (const json* cause = optional_field(j, "cause")) fact.cause = text(*cause, "cause");
  if (const json* bound = optional_field(j, "bound")) fact.bound = text(*bound, "bound");
  return fact;
}

// Numbers that are not known are left out.
json to_json(const Cost& cost) {
  json j = json::object();
  if (cost.moved >= 0) j["moved"] = cost.moved;
  if (cost.bound >= 0) j["bound"] = cost.bound;
  if (cost.best_known >= 0) j["best_known"] = cost.best_known;
  return j;
}

// Those that are not the default.
json to_json(const Limits& limits) {
  json j = json::object();
  if (limits.max_waste >= 0) j["max_waste"] = limits.max_waste;
  if (limits.max_collectives >= 0) j["max_collectives"] = limits.max_collectives;
  if (limits.reruns > 0) j["reruns"] = limits.reruns;
  if (limits.timeout > 0) j["timeout"] = limits.timeout;
  return j;
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

json to_json(const Times& times) {
  json j;
  j["fill"] = times.fill;
  j["reference"] = times.reference;
  j["backend"] = times.backend;
  j["compile"] = times.compile;
  j["judge"] = times.judge;
  j["run"] = times.run;
  return j;
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
    }
  }
  if (const json* rounded = optional_field(j, "rounded")) v.rounded = count(*rounded, "rounded");
  return v;
}

Record parse(const json& j) {
  if (!j.is_object()) throw Malformed("it is no object");
  if (const auto schema = integer(field(j, "schema"), "schema"); schema != record_schema)
    throw Malformed(fmt::format("schema {}, and this is version {}", schema, record_schema));
  Record r;
  r.line = text(field(j, "case"), "case");
  r.backend = text(field(j, "backend"), "backend");
  r.versions = field(j, "versions");
  if (const json* limits = optional_field(j, "limits")) r.limits = limits_from_json(*limits);
  r.verdict = verdict_from_json(j);
  for (const json& one : list(field(j, "trace"), "trace")) r.trace.push_back(collective_from_json(one));
  const json& bytes = field(j, "bytes");
  r.cost = {known(bytes, "moved"), known(bytes, "bound"), known(bytes, "best_known")};
  if (const json* count = optional_field(j, "collectives")) r.collectives = collectives_from_json(*count);
  if (const json* safe = optional_field(j, "replica_safe")) r.replica_safe = truth(*safe, "replica_safe");
  r.times = times_from_json(field(j, "seconds"));
  r.certificate = text(field(j, "certificate"), "certificate");
  r.scope = text(field(j, "scope"), "scope");
  r.notes = texts(field(j, "notes"), "notes");
  if (const json* words = optional_field(j, "last_words")) r.last_words = text(*words, "last_words");
  return r;
}

}  // namespace

json to_json(const Record& r, const json& environment) {
  json j;
  j["schema"] = record_schema;
  j["case"] = r.line;
  j["backend"] = r.backend;
  j["versions"] = r.versions;
  j["status"] = name(r.verdict.status);
  json& facts = j["facts"] = json::array();
  for (const Fact& fact : r.verdict.facts) facts.push_back(to_json(fact));
  json& trace = j["trace"] = json::array();
  for (const Collective& one : r.trace) trace.push_back(to_json(one));
  j["bytes"] = to_json(r.cost);
  j["seconds"] = to_json(r.times);
  j["certificate"] = r.certificate;
  j["scope"] = r.scope;
  j["notes"] = r.notes;
  j["environment"] = environment;
  if (json limits = to_json(r.limits); !limits.empty()) j["limits"] = std::move(limits);
  if (r.verdict.plan) j["judged"].push_back("plan");
  if (r.verdict.alone) j["judged"].push_back("one device");
  if (r.verdict.clones) j["judged"].push_back("clones");
  if (r.verdict.rounded > 0) j["judged"].push_back("bound"), j["rounded"] = r.verdict.rounded;
  if (r.collectives.issued > 0)
    j["collectives"] = {
        {"issued", r.collectives.issued},
        {"merged", r.collectives.merged},
        {"could",  r.collectives.could }
    };
  if (r.replica_safe) j["replica_safe"] = *r.replica_safe;
  if (!r.last_words.empty()) j["last_words"] = r.last_words;
  return j;
}

bool holds_under(const Record& r, const Limits& limits) {
  return r.limits.max_waste == limits.max_waste && r.limits.max_collectives == limits.max_collectives &&
         r.limits.reruns == limits.reruns &&
         (r.verdict.status != Status::hung || r.limits.timeout == limits.timeout);
}

Record record_from_json(const json& j) {
  try {
    return parse(j);
  } catch (const Malformed& error) {
    throw BadInput(error.what());
  }
}

std::string key(const std::string& line, const std::string& backend) {
  return fmt::format("{} on {}", line, backend);
}

}  // namespace plumb
