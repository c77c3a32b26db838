// Texts that users name.
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "harness/record/journal.h"
#include "harness/waive/waiver.h"

namespace plumb {

// A text is no longer than this.
inline constexpr std::size_t longest_text = std::size_t{256} << 20;

// The text, without the byte order mark that some editors write first. Throws BadInput: it cannot be read, or
// is too long. What is `expected` of a file is said where it cannot be read.
std::string read_text(std::istream&, const std::string& name, const std::string& expected = "");
std::string read_text(const std::string& path, const std::string& expected);

std::vector<Waiver> waivers_in(const std::string& path);  // none where there is no path

// Throws BadInput where a file cannot be written; leaves none that was not there.
void check_writable(const std::string& path);

// A record to append to; null where there is no path. Says on standard error where a torn last line was cut off.
std::unique_ptr<Journal> journal_of(const std::string& path);

}  // namespace plumb
