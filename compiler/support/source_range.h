#pragma once
#include <cstdint>

namespace schaas::support {

/// Half-open byte range [begin, end) into the text a user wrote. For messages only: it takes no part in
/// equality or hash of any IR node.
struct SourceRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

}  // namespace schaas::support
