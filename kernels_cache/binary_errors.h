#pragma once
#include <string>
#include <utility>

#include "compiler/support/diagnostic.h"

/// Errors shared by all binary stores.
namespace schaas::kernels_cache {

inline support::Diagnostic wrong_digest(const std::string& text) {
  std::string message = "`";
  message.append(text, 0, 80);
  message += "` is not a binary's digest; expected the 64 lower-case hexadecimal digits of a SHA-256";
  return support::invalid("wrong-digest", std::move(message));
}
inline support::Diagnostic unknown_binary(const std::string& sha256) {
  return support::noting(support::invalid("unknown-binary", "no binary " + sha256 + " is stored"),
                         "request the schedule again: a missing kernel is recompiled");
}
inline support::Diagnostic damaged_binary(const std::string& sha256) {
  return support::noting(
      support::internal("damaged-binary",
                        "the stored binary " + sha256 + " no longer has this digest and was dropped"),
      "request the schedule again: the kernel is recompiled");
}

}  // namespace schaas::kernels_cache
