// What a case moves or computes, so that a time becomes a rate.
#pragma once

#include <map>
#include <string>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// nccl-tests' definitions: algorithm bandwidth is size over time, bus bandwidth that times the factor, a
// lower bound of what a link must carry if all goes from device to device ("model: p2p").
//   all-reduce       a device's array                      2(n-1)/n
//   reduce-scatter   a device's array before                (n-1)/n
//   all-gather       a device's array after                 (n-1)/n
//   all-to-all       a device's array                       (n-1)/n
//   permute          a device's array                             1
//   redistribution   the most that one device must receive        1   any other reshard
//   copy             a device's array after                       0   a reshard of which no device must receive anything
//   product          no size; `flops` instead
struct Work {
  std::string kind;
  std::int64_t devices = 1;  // of a group
  double bytes = 0, factor = 0;
  double flops = 0;
};
Work work(const Case&);

// Whether bytes go from one device to another.
bool goes_round(const Work&);

// The most bytes that one device must receive; 0 where nobody knows.
double most_to_receive(const Case&);

// Bytes that a device receives in the mean, by the axes they go over ("dp.tp"), as a trace says it; what it
// says over no axes is over "-".
std::map<std::string, double> bytes_over_axes(const Case&, const Trace&);

// "2(n-1)/n", as a formula; empty where there is none.
std::string factor_in_words(const Work&);

// In decimal GB a second, as nccl-tests says it; 0 where there are no bytes.
double algorithm_bandwidth(const Work&, double nanoseconds);
double bus_bandwidth(const Work&, double nanoseconds);

}  // namespace plumb
