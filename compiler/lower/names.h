#pragma once
#include <set>
#include <string>

namespace schaas::lower {

/// Issues identifiers unique in their kernel. They consist of our own letters and counters; a user's name is
/// used only when it is one ASCII letter, so no foreign text reaches generated source.
class Names {
 public:
  /// Returns `preferred` when free, else preferred_2, preferred_3, ...
  std::string fresh(const std::string& preferred);
  /// Returns a user's name when it is a single letter, else `otherwise`.
  static std::string base(const std::string& user_name, const std::string& otherwise);

 private:
  std::set<std::string> taken_{"begin", "end", "lane", "column_begin", "column_end", "aligned", "capacity"};
};

}  // namespace schaas::lower
