#include "compiler/frontier/depth_poset.h"

#include <algorithm>
#include <set>

namespace schaas::frontier {

std::vector<space::Space::Depths> depth_front(const std::vector<cost::Cost>& classes) {
  std::set<space::Space::Depths> pairs;
  for (const cost::Cost& one : classes) pairs.insert(depths_of(one));
  std::vector<space::Space::Depths> front;
  for (const space::Space::Depths& pair : pairs) {
    if (front.empty() || pair.memory < front.back().memory) front.push_back(pair);
  }
  return front;
}

space::Space::Depths depths_of(const cost::Cost& cost) {
  return {cost::loop_depth(cost), cost::memory_depth(cost)};
}

std::size_t covering(const space::Space::Depths& pair, const std::vector<space::Space::Depths>& front) {
  const auto found = std::find_if(front.begin(), front.end(), [&](const space::Space::Depths& other) {
    return other.loops <= pair.loops && other.memory <= pair.memory;
  });
  SCHAAS_CHECK(found != front.end(), "a pair of depths below the front");
  return static_cast<std::size_t>(found - front.begin());
}

}  // namespace schaas::frontier
