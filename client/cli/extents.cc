#include "client/cli/extents.h"

#include <algorithm>

namespace schaas::cli {

support::Result<void> Extents::bind(const std::string& index, std::int64_t extent,
                                    const std::string& source) {
  const auto [place, added] = bound_.emplace(index, Bound{extent, source});
  if (!added && place->second.extent != extent) {
    return support::invalid("extent-conflict", "index `" + index + "` has extent " +
                                                   std::to_string(place->second.extent) + " by " +
                                                   place->second.source + " but " + std::to_string(extent) +
                                                   " by " + source);
  }
  return {};
}

void Extents::at_least(const std::string& index, std::int64_t extent) {
  auto& least = least_[index];
  least = std::max(least, extent);
}

std::optional<std::int64_t> Extents::bound(const std::string& index) const {
  const auto place = bound_.find(index);
  if (place == bound_.end()) return std::nullopt;
  return place->second.extent;
}

support::Result<std::map<std::string, std::int64_t>> Extents::all(const client::Product& product) const {
  std::map<std::string, std::int64_t> extents;
  for (const auto& index : indices_of(product)) {
    const auto least = least_.find(index);
    if (const auto known = bound(index)) {
      extents[index] = *known;
    } else if (least != least_.end()) {
      extents[index] = least->second;
    } else {
      return support::invalid(
          "missing-extent",
          "index `" + index + "` has no extent: no file given with -t uses it; add `-d " + index + "=N`");
    }
  }
  return extents;
}

std::vector<std::string> indices_of(const client::Product& product) {
  std::vector<std::string> indices;
  const auto add = [&](const client::Product::Access& access) {
    for (const auto& index : access.indices) {
      if (std::find(indices.begin(), indices.end(), index) == indices.end()) indices.push_back(index);
    }
  };
  add(product.result);
  for (const auto& operand : product.operands) add(operand);
  return indices;
}

std::string print(const client::Product::Access& access) {
  if (access.indices.empty()) return access.tensor;
  std::string out = access.tensor + "(";
  for (std::size_t mode = 0; mode < access.indices.size(); ++mode)
    out += (mode ? "," : "") + access.indices[mode];
  return out + ")";
}

}  // namespace schaas::cli
