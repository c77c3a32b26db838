#include "adapters/protocol/options.h"

#include <cstdlib>
#include <stdexcept>

#include "adapters/protocol/fields.h"

namespace plumb {

std::vector<std::pair<std::string, std::string>> options() {
  std::vector<std::pair<std::string, std::string>> out;
  const char* value = std::getenv("PLUMB_OPTIONS");
  if (!value || !*value) return out;
  const nlohmann::json parsed = parse_message(value);
  for (const auto& [key, option] : parsed.items()) out.emplace_back(key, text(option, key));
  return out;
}

std::vector<std::pair<std::string, std::string>> options_and(const std::vector<std::string>& arguments,
                                                             const std::string& backend) {
  auto all = options();
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (!arguments[i].starts_with("--") || i + 1 == arguments.size())
      throw std::invalid_argument(arguments[i] + ": options are --NAME VALUE, as `plumb backends " + backend +
                                  "` lists them");
    all.emplace_back(arguments[i].substr(2), arguments[i + 1]);
  }
  return all;
}

}  // namespace plumb
