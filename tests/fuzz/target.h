#pragma once
#include <cstdlib>
#include <string_view>

/// A fuzz target: one file that defines `one`, linked with entry.cc. Whatever the bytes, it ends; a crash, an
/// exception, a sanitizer's report or a broken `require` is a finding.
namespace schaas::fuzz {

void one(std::string_view bytes);

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace schaas::fuzz
