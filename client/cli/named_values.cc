#include "client/cli/named_values.h"

#include <charconv>

// Options of the form NAME=VALUE, each of which may be given once per name. Values may hold further equals
// signs.
namespace schaas::cli {

support::Result<std::map<std::string, std::string>> parse_named(const std::vector<std::string>& texts,
                                                                const NamedOption& option) {
  std::map<std::string, std::string> values;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (name.empty() || value.empty()) {
      return support::invalid("option-syntax", "`" + option.option + " " + text + "` is not of the form " +
                                                   option.of + "=" + option.value +
                                                   "; for example: " + option.example);
    }
    const auto [known, added] = values.emplace(name, value);
    if (!added) {
      return support::invalid("given-twice", "`" + option.option + " " + name + "=...` is given twice: `" +
                                                 known->second + "` and `" + value + "`");
    }
  }
  return values;
}

support::Result<std::map<std::string, std::int64_t>> parse_extents(const std::vector<std::string>& texts) {
  SCHAAS_ASSIGN_OR_RETURN(const auto values, parse_named(texts, {"-d", "INDEX", "N", "-d k=64"}));
  std::map<std::string, std::int64_t> extents;
  for (const auto& [index, text] : values) {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || end != text.data() + text.size() || extent < 1 ||
        extent >= std::int64_t{1} << 62) {
      return support::invalid("extent", "`-d " + index + "=" + text + "`: the extent of index `" + index +
                                            "` must be a whole number from 1 to 2^62 - 1, found `" + text +
                                            "`");
    }
    extents[index] = extent;
  }
  return extents;
}

support::Result<std::map<std::string, std::int64_t>> parse_bounds(const std::vector<std::string>& texts) {
  SCHAAS_ASSIGN_OR_RETURN(const auto values, parse_named(texts, {"--bound", "NAME", "N", "--bound lo=2"}));
  std::map<std::string, std::int64_t> bounds;
  for (const auto& [name, text] : values) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, bounds[name]);
    if (read.ec != std::errc() || read.ptr != end)
      return support::invalid(
          "bound", "`--bound " + name + "=" + text + "`: expected a whole number, found `" + text + "`");
  }
  return bounds;
}

}  // namespace schaas::cli
