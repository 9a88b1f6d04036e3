#pragma once
#include <set>
#include <string>

namespace schaas::lower {

/// Hands out identifiers that are new in their kernel. They are made of our own letters and counters: a
/// user's name is used only when it is one ASCII letter, so no foreign text ever reaches generated source.
class Names {
 public:
  /// `wish` when free, else wish_2, wish_3, ...
  std::string fresh(const std::string& wish);
  /// A base made from a user's name: the name itself when it is a single letter, else `otherwise`.
  static std::string base(const std::string& user_name, const std::string& otherwise);

 private:
  std::set<std::string> taken_{"begin", "end", "lane", "column_begin", "column_end", "places"};
};

}  // namespace schaas::lower
