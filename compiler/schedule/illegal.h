#pragma once
#include <string>
#include <utility>

#include "compiler/support/diagnostic.h"

namespace schaas::schedule {

/// Returns invalid [illegal-directive].
inline support::Diagnostic illegal(std::string message) {
  return support::invalid("illegal-directive", std::move(message));
}

}  // namespace schaas::schedule
