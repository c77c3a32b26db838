// The first line of a module, and the tables of files behind it.
#include "reference/hlo/module/parse.h"

namespace plumb::hlo {
namespace {

std::vector<bool> scan_booleans(Scan& scan) {
  std::vector<bool> list;
  scan.expect("{");
  while (!scan.take("}")) {
    if (!list.empty()) scan.expect(",");
    if (!scan.next_is("true") && !scan.next_is("false")) scan.fail("expected true or false");
    list.push_back(scan.take("true") || !scan.take("false"));
  }
  return list;
}

// "{ ITEM, ITEM }"
template <typename Item, typename F>
std::vector<Item> scan_items(Scan& scan, F scan_item) {
  std::vector<Item> list;
  scan.expect("{");
  scan.spaces();
  while (!scan.take("}")) {
    if (!list.empty()) scan.expect(",");
    scan.spaces();
    scan_item(list.emplace_back());
    scan.spaces();
  }
  return list;
}

// "{0}: (0, {}, may-alias)"
std::vector<Alias> scan_aliases(Scan& scan) {
  return scan_items<Alias>(scan, [&](Alias& alias) {
    alias.result = scan.numbers('{', '}');
    scan.expect(": (");
    alias.parameter = scan.number("a parameter");
    scan.expect(", ");
    alias.within = scan.numbers('{', '}');
    scan.expect(", ");
    alias.kind = scan.word("a kind of alias");
    scan.expect(")");
  });
}

// "(0, {})"
std::vector<Donor> scan_donors(Scan& scan) {
  return scan_items<Donor>(scan, [&](Donor& donor) {
    scan.expect("(");
    donor.parameter = scan.number("a parameter");
    scan.expect(", ");
    donor.within = scan.numbers('{', '}');
    scan.expect(")");
  });
}

void scan_entry_layout(Scan& scan, Module& module) {
  scan.expect("{");
  module.parameters = scan_shape(scan);
  scan.expect("->");
  module.result = scan_shape(scan);
  scan.expect("}");
}

std::int64_t scan_count(Scan& scan) {
  const std::size_t begin = scan.at;
  const std::int64_t n = scan.number("a number");
  if (n < 1 || n > kMostDevices) scan.fail("expected a number of devices", begin);
  return n;
}

void scan_header_attribute(Scan& scan, Module& module) {
  const std::size_t begin = scan.at;
  const std::string key(scan.letters());
  if (key.empty()) scan.fail("expected an attribute of the module");
  scan.expect("=");
  if (key == "entry_computation_layout")
    scan_entry_layout(scan, module);
  else if (key == "num_partitions")
    module.partitions = scan_count(scan);
  else if (key == "replica_count")
    module.replicas = scan_count(scan);
  else if (key == "is_scheduled")
    module.scheduled = scan.balanced(",") == "true";
  else if (key == "allow_spmd_sharding_propagation_to_parameters")
    module.propagated_parameters = scan_booleans(scan);
  else if (key == "allow_spmd_sharding_propagation_to_output")
    module.propagated_results = scan_booleans(scan);
  else if (key == "input_output_alias")
    module.aliases = scan_aliases(scan);
  else if (key == "buffer_donor")
    module.donors = scan_donors(scan);
  else if (key == "frontend_attributes")
    module.frontend = scan_frontend(scan);
  else {
    scan.unsupported("attribute " + key + " of the module", begin);
    scan.balanced(",");
  }
}

// "3 {file_name_id=1 line=12}": the number of a key.
std::int64_t field(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(std::string(key) + "=");
  if (at == line.npos) return 0;
  std::int64_t n = 0;
  for (std::size_t i = at + key.size() + 1; i < line.size() && line[i] >= '0' && line[i] <= '9' && n < 1e9;
       ++i)
    n = n * 10 + (line[i] - '0');
  return n;
}

// The entry of a table that is numbered from 1.
template <typename T>
T of(const std::vector<T>& table, std::int64_t number) {
  return number >= 1 && number <= std::ssize(table) ? table[static_cast<std::size_t>(number - 1)] : T{};
}

std::vector<std::string_view> table_lines(Scan& scan) {
  std::vector<std::string_view> lines;
  for (scan.next_line(); scan.next() >= '0' && scan.next() <= '9'; scan.next_line()) {
    const std::size_t begin = scan.at;
    if (scan.number("a number") != std::ssize(lines) + 1)
      scan.fail("the lines of a table are numbered from 1", begin);
    scan.spaces();
    lines.push_back(scan.text.substr(scan.at, scan.text.find('\n', scan.at) - scan.at));
  }
  return lines;
}

std::string unquoted(std::string_view text) {
  return text.size() < 2 ? std::string() : std::string(text.substr(1, text.size() - 2));
}

void scan_tables(Scan& scan, Module& module) {
  std::vector<std::string_view> files, functions, places, frames;
  for (;;) {
    scan.blank();
    if (scan.next_is("FileNames"))
      files = table_lines(scan);
    else if (scan.next_is("FunctionNames"))
      functions = table_lines(scan);
    else if (scan.next_is("FileLocations"))
      places = table_lines(scan);
    else if (scan.next_is("StackFrames"))
      frames = table_lines(scan);
    else
      break;
  }
  for (const std::string_view frame : frames) {
    const std::string_view place = of(places, field(frame, "file_location_id"));
    module.frames.push_back({unquoted(of(files, field(place, "file_name_id"))),
                             unquoted(of(functions, field(place, "function_name_id"))), field(place, "line"),
                             field(frame, "parent_frame_id")});
  }
}

}  // namespace

void scan_header(Scan& scan, Module& module) {
  scan.blank();
  if (!scan.take("HloModule ")) scan.fail("no HLO: a module begins with HloModule");
  module.name = scan.word("the module's name");
  while (scan.take(",")) {
    scan.spaces();
    scan_header_attribute(scan, module);
  }
  scan.spaces();
  if (scan.next() != '\n' && !scan.done()) scan.fail("expected a comma or the end of the line");
  scan_tables(scan, module);
}

}  // namespace plumb::hlo
