#include "harness/command/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "reference/words/text.h"

namespace plumb {

void skip_byte_order_mark(std::istream& in) {
  if (in.peek() != 0xef) return;  // no first byte of what we read but of this mark
  for (const int byte : {0xef, 0xbb, 0xbf})
    if (in.peek() == byte) in.get();
}

std::ifstream open_text(const std::string& path) {
  std::ifstream in(path);
  if (in) skip_byte_order_mark(in);
  if (!in.is_open() || in.bad()) throw BadInput(fmt::format("{}: {}", path, std::strerror(errno)));
  in.clear();  // an empty file is one
  return in;
}

}  // namespace plumb
