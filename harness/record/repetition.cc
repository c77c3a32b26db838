#include "harness/record/repetition.h"

#include <fmt/format.h>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "reference/words/fnv.h"

namespace plumb {

using nlohmann::json;

namespace {

std::string ranks_text(const std::vector<Clocked>& ranks) {
  std::string text = "[";
  for (const Clocked& c : ranks)
    text += fmt::format(R"({}{{"clock":{},"enter":[{}],"leave":[{}]}})", text.size() > 1 ? "," : "", c.clock,
                        fmt::join(c.enter, ","), fmt::join(c.leave, ","));
  return text + "]";
}

std::string work_text(const Work& w) {
  return fmt::format(R"({{"bytes":{},"devices":{},"factor":{},"flops":{},"kind":{}}})", w.bytes, w.devices,
                     w.factor, w.flops, json_text(w.kind));
}

Work work_from_json(const json& j) {
  return {text(field(j, "kind"), "kind"), count(field(j, "devices"), "devices"),
          seconds(field(j, "bytes"), "bytes"), seconds(field(j, "factor"), "factor"),
          seconds(field(j, "flops"), "flops")};
}

std::vector<Clocked> ranks_from_json(const json& j) {
  std::vector<Clocked> all;
  for (const json& one : list(j, "ranks"))
    all.push_back({integer(field(one, "clock"), "clock"), integers(field(one, "enter"), "enter"),
                   integers(field(one, "leave"), "leave")});
  for (const Clocked& c : all)
    if (c.enter.size() != all[0].enter.size() || c.leave.size() != all[0].enter.size())
      throw Malformed("ranks: expected as many entries as exits of each");
  return all;
}

std::string json_text(const std::vector<ClockSeen>& all) {
  std::string text = "[";
  for (const ClockSeen& c : all)
    text += fmt::format(R"({}{{"drift":{},"drift_error":{},"error":{},"offset":{},"rank":{}}})",
                        text.size() > 1 ? "," : "", c.drift, c.drift_error, c.error, c.offset, c.rank);
  return text + "]";
}

std::string json_text(const std::vector<LinkFigure>& all) {
  std::string text;
  for (const LinkFigure& l : all)
    text += fmt::format("{}[{},{},{},{}]", text.empty() ? "" : ",", l.link.a, l.link.b, l.alone, l.at_once);
  return "[" + text + "]";
}

double positive(const json& j, std::string_view what) {
  const double number = seconds(j, what);
  if (number <= 0) throw Malformed(fmt::format("{}: nothing takes no time", what));
  return number;
}

LinkFigure link_from(const json& j) {
  if (list(j, "links").size() != 4) throw Malformed("links: expected two ranks and two times");
  return {
      {count(j[0], "links"), count(j[1], "links")},
      positive(j[2], "links"), seconds(j[3], "links")
  };
}

double finite(const json& j, const char* name) {
  const json& value = field(j, name);
  if (!value.is_number()) throw Malformed(fmt::format("clocks: {} is no number", name));
  return value.get<double>();
}

ClockSeen clock_seen_from(const json& j) {
  return {count(field(object(j, "clocks"), "rank"), "rank"), finite(j, "offset"), finite(j, "error"),
          finite(j, "drift"), finite(j, "drift_error")};
}

// Its members in order, and numbers as they are, whoever wrote them: 2.0 is 2.
void add_said(const json& j, std::string& to) {
  if (j.is_number()) to += fmt::format("{}", j.get<double>());
  if (j.is_string()) to += j.get<std::string>();
  if (j.is_boolean()) to += j.get<bool>() ? "true" : "false";
  if (j.is_structured())
    for (const auto& [name, value] : j.items())
      if (name != "seal") to += j.is_object() ? name + ':' : "", add_said(value, to), to += ';';
}

std::string seal_of(const json& j, const std::string& line) {
  std::string said = line + ';';
  add_said(j, said);
  return fmt::format("{:016x}", fnv(said));
}

// That of older records, which is of what was measured alone.
std::string seal_of_times(const Repetition& r) {
  std::string said = fmt::format("{};{};{};{}", fmt::join(r.samples.nanoseconds, ","), fmt::join(r.samples.slowest, ","),
                                 fmt::join(r.samples.skew, ","), fmt::join(r.control, ","));
  for (const auto& [what, took] : r.limits) said += fmt::format(";{} {}", what, took);
  return fmt::format("{:016x}", fnv(said));
}

// Throws where a record is not as it was written. Who says its launch has a seal.
void check_seal(const Repetition& r, const json& j, const std::string& line) {
  const json* seal = optional_field(j, "seal");
  if (!seal && r.launch > 0) throw Malformed("it has no seal: it may have been edited");
  if (seal && text(*seal, "seal") != seal_of(j, line) && text(*seal, "seal") != seal_of_times(r))
    throw Malformed("it was edited: it is not that of its seal");
}

// Throws where what a record says is not what its own samples come to.
void check_against_samples(const Repetition& r) {
  const Samples& all = r.samples;
  if (!all.skew.empty() && all.skew.size() != all.nanoseconds.size())
    throw Malformed("skew: expected a number for each of the nanoseconds");
  if (all.ranks.empty() || all.nanoseconds.empty()) return;
  const Samples anew = samples(all.ranks, r.timing.batch);
  if (anew.nanoseconds != all.nanoseconds || anew.slowest != all.slowest || anew.late != all.late)
    throw Malformed("its times are not those of its ranks");
}

using plumb::json_text;  // of texts

}  // namespace

std::string timed_otherwise(const Timing& then, const Timing& now) {
  std::vector<std::string> all;
  const auto compare = [&](const char* what, const auto& was, const auto& is) {
    if (was != is) all.push_back(fmt::format("{} {}, now {}", what, was, is));
  };
  compare("sync", name(then.sync), name(now.sync)), compare("batch", then.batch, now.batch);
  compare("warmups", then.warmups, now.warmups);
  const auto iterations = [](const Timing& t) { return t.iterations > 0 ? fmt::format("{}", t.iterations) : "by the rule"; };
  compare("iterations", iterations(then), iterations(now));
  return fmt::format("{}", fmt::join(all, "; "));
}

namespace {

std::string members(const Repetition& r, const std::string& seal) {
  Members m;
  m.add("batch", r.timing.batch);
  if (r.seconds > 0) m.add("budget", dump(json(r.seconds)));
  if (!r.samples.clocks.empty()) m.add("clocks", json_text(r.samples.clocks));
  if (!r.collectives.empty()) m.add("collectives", ranks_text(r.collectives));
  if (!r.control.empty()) m.add("control", fmt::format("[{}]", fmt::join(r.control, ",")));
  m.add("iterations", r.timing.iterations);
  m.add("late", r.samples.late);
  if (r.launch > 0) m.add("launch", r.launch);
  if (!r.limits.empty()) m.add("limits", dump(json(r.limits)));
  if (!r.links.empty()) m.add("links", json_text(r.links));
  if (r.load >= 0) m.add("load", dump(json(r.load)));
  if (!r.lost.empty()) m.add("lost", json_text(r.lost));
  if (r.mhz_before > 0) m.add("mhz", fmt::format("[{:.0f},{:.0f}]", r.mhz_before, r.mhz_after));
  m.add("nanoseconds", fmt::format("[{}]", fmt::join(r.samples.nanoseconds, ",")));
  m.add("of", r.of);
  if (!r.outside.empty()) m.add("outside", fmt::format("[{}]", fmt::join(r.outside, ",")));
  if (!r.places.empty()) m.add("places", dump(r.places));
  if (!r.samples.ranks.empty()) m.add("ranks", ranks_text(r.samples.ranks));
  m.add("repetition", r.number);
  if (!seal.empty()) m.add("seal", json_text(seal));
  if (!r.samples.skew.empty()) m.add("skew", fmt::format("[{}]", fmt::join(r.samples.skew, ",")));
  m.add("slowest", fmt::format("[{}]", fmt::join(r.samples.slowest, ",")));
  m.add("span", r.samples.span);
  if (r.step > 0) m.add("step", dump(json(r.step)));
  m.add("stop", json_text(r.stop));
  m.add("sync", json_text(name(r.timing.sync)));
  m.add("warmups", r.timing.warmups);
  if (r.work.bytes > 0 || r.work.flops > 0) m.add("work", work_text(r.work));
  return std::move(m).whole();
}

}  // namespace

std::string json_text(const Repetition& r, const std::string& line) {
  return members(r, seal_of(parse_json(members(r, "")), line));
}

Repetition repetition_from_json(const json& j, const std::string& line) {
  Repetition r;
  r.number = count(field(j, "repetition"), "repetition"), r.of = count(field(j, "of"), "of");
  r.timing.warmups = count(field(j, "warmups"), "warmups");
  r.timing.iterations = count(field(j, "iterations"), "iterations");
  r.timing.batch = count(field(j, "batch"), "batch");
  const auto sync = sync_named(text(field(j, "sync"), "sync"));
  if (!sync) throw Malformed("sync: none, barrier or window");
  r.timing.sync = *sync;
  r.stop = text(field(j, "stop"), "stop");
  for (const json& one : list(field(j, "nanoseconds"), "nanoseconds"))
    r.samples.nanoseconds.push_back(positive(one, "nanoseconds"));
  r.samples.slowest = integers(field(j, "slowest"), "slowest");
  if (r.samples.slowest.size() != r.samples.nanoseconds.size())
    throw Malformed("slowest: expected a rank for each of the nanoseconds");
  if (const json* skew = optional_field(j, "skew")) r.samples.skew = integers(*skew, "skew");
  if (const json* clocks = optional_field(j, "clocks"))
    for (const json& one : list(*clocks, "clocks")) r.samples.clocks.push_back(clock_seen_from(one));
  if (const json* links = optional_field(j, "links"))
    for (const json& one : list(*links, "links")) r.links.push_back(link_from(one));
  r.samples.late = count(field(j, "late"), "late"), r.samples.span = count(field(j, "span"), "span");
  if (const json* places = optional_field(j, "places")) r.places = texts(*places, "places");
  if (const json* mhz = optional_field(j, "mhz")) {
    const std::vector<std::int64_t> both = integers(*mhz, "mhz");
    if (both.size() != 2) throw Malformed("mhz has two numbers, before and after");
    r.mhz_before = static_cast<double>(both[0]), r.mhz_after = static_cast<double>(both[1]);
  }
  if (const json* launch = optional_field(j, "launch")) r.launch = count(*launch, "launch");
  if (const json* load = optional_field(j, "load")) r.load = seconds(*load, "load");
  if (const json* step = optional_field(j, "step")) r.step = seconds(*step, "step");
  if (const json* budget = optional_field(j, "budget")) r.seconds = seconds(*budget, "budget");
  if (const json* lost = optional_field(j, "lost")) r.lost = text(*lost, "lost");
  if (const json* ranks = optional_field(j, "ranks")) r.samples.ranks = ranks_from_json(*ranks);
  if (const json* own = optional_field(j, "outside")) r.outside = integers(*own, "outside");
  if (const json* calls = optional_field(j, "collectives")) r.collectives = ranks_from_json(*calls);
  if (const json* work = optional_field(j, "work")) r.work = work_from_json(*work);
  if (const json* limits = optional_field(j, "limits"))
    for (const auto& [what, took] : object(*limits, "limits").items()) r.limits[what] = positive(took, what);
  if (const json* control = optional_field(j, "control"))
    for (const json& one : list(*control, "control")) r.control.push_back(positive(one, "control"));
  check_against_samples(r);
  check_seal(r, j, line);
  return r;
}

}  // namespace plumb
