#include "compiler/lower/names.h"

namespace schaas::lower {

std::string Names::fresh(const std::string& preferred) {
  std::string text = preferred;
  for (int count = 2; !taken_.insert(text).second; ++count) text = preferred + "_" + std::to_string(count);
  return text;
}

std::string Names::base(const std::string& user_name, const std::string& otherwise) {
  if (user_name.size() != 1) return otherwise;
  const char c = user_name.front();
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter ? user_name : otherwise;
}

}  // namespace schaas::lower
