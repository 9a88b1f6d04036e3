#include "compiler/frontier/depth_poset.h"

#include <algorithm>
#include <set>

namespace schaas::frontier {

std::vector<space::Space::Depths> depth_front(const std::vector<space::ClassCount>& classes) {
  std::set<space::Space::Depths> pairs;
  for (const space::ClassCount& one : classes)
    pairs.insert({cost::loop_depth(one.cost), cost::memory_depth(one.cost)});
  std::vector<space::Space::Depths> front;
  for (const space::Space::Depths& pair : pairs) {
    if (front.empty() || pair.memory < front.back().memory) front.push_back(pair);
  }
  return front;
}

bool on_front(const cost::Cost& cost, const std::vector<space::Space::Depths>& front) {
  const space::Space::Depths pair{cost::loop_depth(cost), cost::memory_depth(cost)};
  return std::find(front.begin(), front.end(), pair) != front.end();
}

}  // namespace schaas::frontier
