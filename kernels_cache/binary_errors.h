#pragma once
#include <string>
#include <utility>

#include "compiler/support/diagnostic.h"

/// The errors all binary stores share, worded once.
namespace schaas::kernels_cache {

inline support::Diagnostic wrong_digest(const std::string& text) {
  std::string message = "`";
  message.append(text, 0, 80);
  message += "` is not a binary's digest; expected the 64 lower-case hexadecimal digits of a SHA-256";
  return support::invalid("wrong-digest", std::move(message));
}
inline support::Diagnostic unknown_binary(const std::string& sha256) {
  return support::noting(support::invalid("unknown-binary", "no binary " + sha256 + " is stored"),
                         "ask for the schedule again: its kernel is rebuilt when it is missing");
}
inline support::Diagnostic damaged_binary(const std::string& sha256) {
  return support::noting(
      support::internal("damaged-binary",
                        "the stored binary " + sha256 + " no longer has this digest and was dropped"),
      "ask for the schedule again: it is rebuilt");
}

}  // namespace schaas::kernels_cache
