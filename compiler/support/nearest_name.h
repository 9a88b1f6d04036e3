#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schaas::support {

/// The known name closest to `name` by edit distance (insert, delete, replace, swap of neighbours), if close
/// enough to be a likely typing error: at most one edit per three characters, at least one allowed, and fewer
/// than characters of the known name; or one that differs by upper and lower case alone.
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& known);

/// "; did you mean `csr`?" or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace schaas::support
