#include "harness/report/junit.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <map>

namespace plumb {
namespace {

// Characters that XML 1.0 cannot hold become '?'.
std::string xml_escaped(std::string_view text) {
  std::string all;
  for (char c : text) {
    switch (c) {
      case '&':
        all += "&amp;";
        break;
      case '<':
        all += "&lt;";
        break;
      case '>':
        all += "&gt;";
        break;
      case '"':
        all += "&quot;";
        break;
      default:
        all += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  for (const char* none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})  // U+FFFE and U+FFFF are no characters of XML
    for (std::size_t at; (at = all.find(none)) != all.npos;) all.replace(at, 3, "?");
  return all;
}

std::string without_dots(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

void write_case(std::ostream& out, const JunitCase& c) {
  const std::string name = xml_escaped(c.line),
                    suite = xml_escaped(without_dots(c.suite) + "." + without_dots(c.backend));
  fmt::print(out, "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\"", name, suite, c.seconds);
  if (c.element.empty()) {
    fmt::print(out, "/>\n");
    return;
  }
  const std::string first = xml_escaped(c.said.substr(0, c.said.find('\n'))), type = xml_escaped(c.type);
  fmt::print(out, ">\n      <{} message=\"{}: {}\" type=\"{}\">{}</{}>\n    </testcase>\n", c.element, type,
             first, type, xml_escaped(c.said), c.element);
}

}  // namespace

std::string_view junit_element(Status status) {
  switch (status) {
    case Status::pass:
      return "";
    case Status::unrun:
    case Status::unsupported:
    case Status::waived:
      return "skipped";
    case Status::hung:
    case Status::crashed:
    case Status::malformed:
      return "error";
    default:
      return "failure";
  }
}

void write_junit(std::ostream& out, const std::vector<JunitCase>& cases) {
  std::map<std::pair<std::string, std::string>, std::vector<const JunitCase*>> suites;
  double all = 0;
  for (const JunitCase& c : cases) suites[{c.suite, c.backend}].push_back(&c), all += c.seconds;
  fmt::print(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites time=\"{:.3f}\">\n", all);
  for (const auto& [name, list] : suites) {
    std::map<std::string_view, int> n;
    double seconds = 0;
    for (const JunitCase* c : list) ++n[c->element], seconds += c->seconds;
    fmt::print(out,
               "  <testsuite name=\"{}.{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
               "time=\"{:.3f}\">\n",
               xml_escaped(name.first), xml_escaped(name.second), list.size(), n["failure"], n["error"],
               n["skipped"], seconds);
    for (const JunitCase* c : list) write_case(out, *c);
    fmt::print(out, "  </testsuite>\n");
  }
  fmt::print(out, "</testsuites>\n");
}

}  // namespace plumb
