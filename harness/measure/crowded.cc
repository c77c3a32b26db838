#include "harness/measure/crowded.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>

namespace plumb {
namespace {

using Cores = std::set<std::int64_t>;

// "0-3,7"; empty where it is no such list.
Cores numbers(std::string_view text) {
  Cores all;
  for (const char *at = text.data(), *const end = at + text.size(); at < end; ++at) {
    std::int64_t first = 0, last = 0;
    auto read = std::from_chars(at, end, first);
    last = first;
    if (read.ec == std::errc() && read.ptr < end && *read.ptr == '-')
      read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || (read.ptr < end && *read.ptr != ',') || last - first > 1 << 20) return {};
    for (std::int64_t n = first; n <= last; ++n) all.insert(n);
    at = read.ptr;
  }
  return all;
}

// The cores of each rank of a host.
using Hosts = std::map<std::string, std::vector<Cores>>;

// "0-3: host 0, cores 0-1"
void add(Hosts& hosts, std::string_view place, std::int64_t ranks) {
  constexpr std::string_view before = ", cores ";
  const std::size_t colon = place.find(": "), comma = place.find(before);
  if (colon == place.npos || comma == place.npos || comma < colon) return;
  const Cores cores = numbers(place.substr(comma + before.size()));
  if (cores.empty()) return;
  for (std::int64_t rank : numbers(place.substr(0, colon)))
    if (rank < ranks) hosts[std::string(place.substr(colon, comma - colon))].push_back(cores);
}

}  // namespace

std::string shared_cores(const std::vector<std::string>& places, std::int64_t ranks) {
  Hosts hosts;
  for (const std::string& place : places) add(hosts, place, ranks);
  std::int64_t most = 0;
  std::string said;
  for (const auto& [host, each] : hosts) {
    std::set<Cores> sets(each.begin(), each.end());
    Cores whole;
    for (const Cores& one : each) whole.insert(one.begin(), one.end());
    sets.insert(whole);
    for (const Cores& these : sets) {
      const auto within = [&](const Cores& one) { return std::ranges::includes(these, one); };
      const auto on_them = std::ranges::count_if(each, within);
      if (on_them <= std::ssize(these) || on_them <= most) continue;
      most = on_them;
      said = fmt::format("{} ranks share {} core{}", on_them, these.size(), these.size() == 1 ? "" : "s");
    }
  }
  return said;
}

Sharing sharing(const std::vector<std::string>& places, std::int64_t ranks) {
  if (std::string own = shared_cores(places, ranks); !own.empty()) return {std::move(own), ""};
  const std::string all = shared_cores(places, std::numeric_limits<std::int64_t>::max());
  return {"", all.empty() ? "" : fmt::format("{}, and {} take part", all, ranks)};
}

std::string sharing_in_words(const Sharing& s) { return s.own.empty() ? s.besides : s.own; }

}  // namespace plumb
