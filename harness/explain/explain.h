// A case in plain English, and pictures of what each device holds.
#pragma once

#include <string>

#include "reference/words/op.h"

namespace plumb {

// All that `plumb explain` prints.
std::string explain(const Case&);

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
