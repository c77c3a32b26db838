// Which devices an instruction brings together.
#pragma once

#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// The groups of a collective over `devices` partitions of one replica. All have one size, and each device is
// in one.
// clang-format off
//
//   channel_id   use_global_device_ids   all-reduce, all-gather,         all-to-all,
//                                        reduce-scatter                  collective-broadcast
//   no           no                      replicas: each device alone     replicas: each device alone
//   yes          no                      replicas, all their partitions  partitions, as listed
//   yes          yes                     devices, as listed
// clang-format on
std::vector<Integers> groups_of(const Instruction&, std::int64_t devices);

// For each device the group it is in, and its place there.
struct Ranks {
  Integers group, rank;
};
Ranks ranks_of(const std::vector<Integers>& groups, std::int64_t devices);

// For each device the one whose elements a collective-permute brings it, or -1.
Integers sources_of(const Instruction&, std::int64_t devices);

}  // namespace plumb::hlo
