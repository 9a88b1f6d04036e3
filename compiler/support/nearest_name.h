#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schaas::support {

/// The known name closest to `name` by edit distance (insert, delete, replace, swap of neighbours), if it is
/// a likely typing error. That takes at most one edit per three characters (at least one is allowed), and
/// fewer than the known name has characters; or a difference in case alone.
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& known);

/// "; did you mean `csr`?" or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

/// The same for the names that are keys of a map.
template <class Value>
std::string did_you_mean(std::string_view name, const std::map<std::string, Value>& known) {
  std::vector<std::string> names;
  for (const auto& [key, value] : known) names.push_back(key);
  return did_you_mean(name, names);
}

}  // namespace schaas::support
