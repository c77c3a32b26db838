// The collectives of a trace as one device sees them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"

namespace plumb {

// A collective that a device takes part in with others.
struct Step {
  std::string kind, op;
  std::optional<std::vector<AxisId>> axes;  // ascending; absent where its group is no fibre of the mesh
  std::int64_t in = 0, out = 0, times = 1;
};

bool reduces(const Collective&);   // an all-reduce or a reduce-scatter
bool combines(const Collective&);  // one that adds values or compares them, and joins no bits

// What a reduction goes by (adapters/protocol/vocabulary.h).
bool names_sum(const std::string& op);
bool names_bits(const std::string& op);
bool names_mean(const std::string& op);
std::optional<Reduce> extreme_named(const std::string& op);

bool names_nobody(const Collective&);  // neither axes, groups nor pairs: between any devices

std::vector<AxisId> axes_of(const Mesh&, const Collective&);  // that it names; the mesh has them

// The axes whose fibres take part: those it names, or of its groups, where they are all fibres along some.
std::optional<std::vector<AxisId>> fibre_axes(const Mesh&, const Collective&);

// The same trace, where the groups of a step are all fibres, named by their axes. Groups that do not ascend
// stay, but for those of an all-reduce: of what is gathered, scattered or exchanged their order says which
// piece is whose, of a sum it says nothing.
Trace named_by_axes(const Mesh&, Trace);

// The same trace, where permutes that ran in a loop with none but their like are as many steps one after
// another. One that ran more often than there are devices stays a loop, and so do those that differ and
// follow each other: nobody knows whether they took turns.
Trace written_out(const Mesh&, std::span<const Collective>);

// Whether it ran several times, or nobody knows how often.
bool in_a_loop(const Collective&);

// Who takes part in a collective: its groups, or the fibres along its axes. Empty where it has neither.
std::vector<std::vector<std::int64_t>> groups_of(const Mesh&, const Collective&);

// Devices that collectives join, directly or by others; one that none joins is by itself.
std::vector<std::vector<std::int64_t>> connected(const Mesh&, std::span<const Collective>);

// For each device, its steps in order. Groups of one device are no step.
std::vector<std::vector<Step>> steps_by_device(const Mesh&, const Trace&);

}  // namespace plumb
