#include "harness/select/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/backend/place.h"
#include "harness/backend/spelling.h"
#include "reference/words/text.h"

namespace plumb {
namespace fs = std::filesystem;
namespace {

// The build tree has a folder of this name too, without cases.
fs::path folder() { return fs::path(own_file("suites/smoke.cases")).parent_path(); }

// "2x3x5" is x=2,y=3,z=5.
std::string mesh_of_sizes(std::string_view sizes, std::string_view suite) {
  constexpr std::string_view names = "xyzwvu";
  std::string mesh;
  for (std::size_t at = 0, axis = 0; at <= sizes.size(); ++axis) {
    const std::size_t end = std::min(sizes.find('x', at), sizes.size());
    const std::string_view size = sizes.substr(at, end - at);
    if (size.empty() || size.find_first_not_of("0123456789") != size.npos || axis == names.size())
      throw bad_input("expected up to six sizes after the suite, such as reshard:2x2x3", suite,
                      suite.find(':') + 1 + at);
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : ",", names[axis], size);
    at = end + 1;
  }
  return mesh;
}

std::vector<Row> on_mesh(const std::vector<Row>& rows, const std::string& mesh, std::string_view suite) {
  std::vector<Row> moved;
  std::set<std::string> seen;
  for (Row row : rows) {
    const std::size_t colon = row.line.find(':');
    if (colon == std::string::npos || row.line.find('*') == std::string::npos) continue;
    row.line = "on " + mesh + row.line.substr(colon);
    row.sample = 0;
    if (seen.insert(row.line).second) moved.push_back(std::move(row));
  }
  if (moved.empty()) throw bad_input("this suite has no patterns to put on another mesh", suite, 0);
  return moved;
}

}  // namespace

std::vector<Suite> suites() {
  std::vector<Suite> all;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder(), error)) {
    if (entry.path().extension() != ".cases") continue;
    std::ifstream in(entry.path());
    all.push_back({entry.path().stem(), heading(in)});
  }
  std::ranges::sort(all, {}, &Suite::name);
  return all;
}

std::vector<Row> suite_rows(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  std::vector<std::string> names;
  for (const Suite& suite : suites()) {
    names.push_back(suite.name);
    if (suite.name != name) continue;
    std::ifstream in(folder() / (name + ".cases"));
    std::vector<Row> rows = read_rows(in, name + ".cases", std::string(text));
    if (colon == text.npos) return rows;
    return on_mesh(rows, mesh_of_sizes(text.substr(colon + 1), text), text);
  }
  if (name.find('*') != name.npos)
    throw bad_input("a suite is named whole, and --suite may repeat: --suite smoke --suite reshard", text,
                    name.find('*'));
  const std::string near = nearest(name, names);
  throw bad_input(near.empty() ? fmt::format("there is no suite '{}', only {}", name, fmt::join(names, ", "))
                               : fmt::format("there is no suite '{}'; did you mean {}?", name, near),
                  text, 0);
}

}  // namespace plumb
