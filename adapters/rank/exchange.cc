#include "adapters/rank/exchange.h"

#include <map>
#include <tuple>

namespace plumb {
namespace {

std::size_t size_of(const Link& link, const std::vector<Send>& sends) {
  std::int64_t bytes = 0;
  for (const Send& s : sends) bytes += packed_bytes(link, s);
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Exchange exchange(const Link& link, const Round& round) {
  const Range own = link.to->own;
  const auto process = [&](std::uint32_t device) { return device / own.size(); };
  const std::int64_t mine = own.begin / own.size();
  Exchange all;
  std::map<std::int64_t, Parcel> parcels;
  for (const Send& s : round.sends) {
    const std::int64_t from = process(s.from), to = process(s.to);
    if (to == mine) all.arrives.push_back(s);
    if (from == to) continue;
    if (from == mine) {
      parcels[to].sent.push_back(s);
    } else if (to == mine) {
      parcels[from].received.push_back(s);
    }
  }
  for (auto& [other, parcel] : parcels) {
    parcel.process = other;
    parcel.out.resize(size_of(link, parcel.sent));
    parcel.in.resize(size_of(link, parcel.received));
    all.parcels.push_back(std::move(parcel));
  }
  return all;
}

}  // namespace plumb
