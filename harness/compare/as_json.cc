#include "harness/compare/as_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/report/finding.h"

namespace plumb {
namespace {

using nlohmann::json;

json pair_json(const Transition& pair) {
  const Record& r = either(pair);
  json j{
      {"case",    r.line           },
      {"backend", r.backend        },
      {"change",  name(pair.change)}
  };
  if (pair.from) j["was"] = name(pair.from->verdict.status);
  if (pair.to) j["is"] = name(pair.to->verdict.status);
  if (pair.from && pair.to && pair.from->cost.moved != pair.to->cost.moved)
    j["moved"] = {pair.from->cost.moved, pair.to->cost.moved};
  if (!pair.why.empty()) j["why"] = pair.why;
  return j;
}

// The findings of now by kind: what was said of the smallest of each, and the lines of all.
json findings_json(const Compared& all) {
  std::map<Kind, std::vector<const Record*>> kinds;
  for (const Transition& pair : all.pairs)
    if (pair.to && finding(pair.to->verdict.status)) kinds[kind_of(*pair.to)].push_back(pair.to);
  json j = json::array();
  for (const auto& [kind, of] : kinds) {
    const Record& least = **std::ranges::min_element(
        of, {}, [](const Record* r) { return std::pair(r->line.size(), std::string_view(r->line)); });
    json lines = json::array();
    for (const Record* r : of) lines.push_back(r->line);
    j.push_back({
        {"backend",  kind.backend     },
        {"status",   name(kind.status)},
        {"why",      kind.why         },
        {"layouts",  kind.layouts     },
        {"cases",    of.size()        },
        {"smallest", least.line       },
        {"on",       least.backend    },
        {"said",     in_detail(least) },
        {"again",    repeat(least,      least.backend)},
        {"lines",          std::move(lines)                    }
    });
  }
  return j;
}

// What every status becomes by every other, whatever the records hold.
json changes_json() {
  json j = json::object();
  for (int was = 0; was < statuses; ++was)
    for (int is = 0; is < statuses; ++is)
      j[name(static_cast<Status>(was))][name(static_cast<Status>(is))] =
          name(change(static_cast<Status>(was), static_cast<Status>(is)));
  return j;
}

json in_order(const Ratio& r) { return {r.interval.low, r.middle, r.interval.high}; }

}  // namespace

json as_json(const Compared& all) {
  json j{
      {"changes",     changes_json()    },
      {"findings",    findings_json(all)},
      {"counts",      json::object()    },
      {"table",       json::array()     },
      {"kinds",       json::array()     },
      {"versions",    all.versions      },
      {"environment", all.environment   },
      {"times",       json::array()     }
  };
  for (Change change : all_changes()) {
    if (count(all, change) > 0) j["counts"][std::string(name(change))] = count(all, change);
    if (!is_told(change)) continue;
    for (const OfKind& of : by_kind(all, change)) {
      json kind{
          {"change",  name(change)        },
          {"backend", of.kind.backend     },
          {"status",  name(of.kind.status)},
          {"why",     of.kind.why         },
          {"layouts", of.kind.layouts     },
          {"cases",   json::array()       }
      };
      for (const Transition* pair : of.pairs) kind["cases"].push_back(pair_json(*pair));
      j["kinds"].push_back(std::move(kind));
    }
  }
  for (const auto& [pair, n] : all.table)
    j["table"].push_back({
        {"was",   name(pair.first) },
        {"is",    name(pair.second)},
        {"cases", n                }
    });
  for (const Paced& p : all.paced) {
    json time{
        {"case",    p.line        },
        {"backend", p.backend     },
        {"became",  name(p.became)}
    };
    if (!p.besides.empty()) time["besides"] = p.besides;
    if (!p.seen.empty()) time["seen"] = p.seen;
    if (p.ratio) time["ratio"] = in_order(*p.ratio);
    if (p.controlled) time["controlled"] = in_order(*p.controlled);
    j["times"].push_back(std::move(time));
  }
  return j;
}

}  // namespace plumb
