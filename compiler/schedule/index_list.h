#pragma once
#include <string>
#include <vector>

namespace schaas::schedule {

/// Prints indices as traces do: "{i,j}".
inline std::string index_list(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ",") + name;
  return "{" + out + "}";
}

}  // namespace schaas::schedule
