// A case in plain English, and pictures of what each device holds.
#pragma once

#include <string>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// All that `plumb explain` prints.
std::string explain_case(const Case&);

// The same data for a program: the number that seeds them, their generation, a digest of each whole operand
// (with its parts) and of each whole result, the certificate, the bytes. One line of JSON. Holds the data.
std::string explain_json(const Case&);

// What each operand is called: lhs, rhs; x, w; values, history, scale; before.
std::vector<std::string> operand_roles(const Case&);

// One sentence: what the op does to its operands.
std::string meaning_in_words(const Case&);

// One line for each thing the spec says: its dimensions, what is unfinished, what is copied.
std::string layout_in_words(const Case&, const Spec&);

// Which devices hold which block. Arrays of up to two dimensions on up to 64 devices are drawn as a
// grid, others listed:
//   a=b   copies      a+b   parts that make the value
std::string draw(const Case&, const Spec&);

// What each rule of a resolve does.
std::string resolution_in_words(const Case&);

}  // namespace plumb
