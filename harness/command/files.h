// Files that users name.
#pragma once

#include <fstream>
#include <istream>
#include <string>

namespace plumb {

// The file, behind the byte order mark that some editors write first. Throws BadInput: it cannot be read.
std::ifstream open_text(const std::string& path);

void skip_byte_order_mark(std::istream&);

}  // namespace plumb
