// The parts of the parser; private to the room.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "reference/hlo/module/module.h"
#include "reference/hlo/module/scan.h"

namespace plumb::hlo {

using Names = std::unordered_map<std::string_view, std::int64_t>;

// More devices than anybody has: a number above is a slip, and would fill the memory.
constexpr std::int64_t kMostDevices = std::int64_t{1} << 22;

bool is_permutation(Integers, std::int64_t count);       // of 0..count-1
void check_once(Scan&, const Axes&, std::size_t where);  // each part of each axis

Shape scan_shape(Scan&);
Literal scan_literal(Scan&, const Shape&);

Order scan_order(Scan&, std::int64_t count);  // of `count` ids, which are a permutation
Groups scan_groups(Scan&);
Mesh scan_mesh(Scan&);
AxisPart scan_axis(Scan&, const Mesh&);
std::vector<AxisPart> scan_axes(Scan&, const Mesh&);  // {'a', 'b':(1)2}
std::vector<AxisPart> scan_open(Scan&, const Mesh&);  // the same, and more may follow: {'a', ?}
Sharding scan_sharding(Scan&);

// The value of an attribute, but for those of every instruction.
Setting scan_value(Scan&, Form, const Names& computations);
void scan_metadata(Scan&, Module&, Instruction&);
// The pairs of a send stand among them; they become an attribute of whatever takes them.
Texts scan_frontend(Scan&, Instruction* = nullptr);

// From "HloModule" up to the first computation.
void scan_header(Scan&, Module&);

}  // namespace plumb::hlo
