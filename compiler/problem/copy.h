#pragma once
#include <optional>
#include <string>
#include <vector>

namespace schaas::problem {

/// `tensor` is kept once more, in another order of modes and the same level formats, and read there: by its
/// accesses with the indices `at`, or by all of them.
struct CopyRequest {
  std::string tensor;
  std::optional<std::vector<std::string>> at;
  std::vector<int> order;  ///< of the copy: level l stores mode order[l]
  bool operator==(const CopyRequest&) const = default;
};

/// An operand that is kept a second time, for the accesses of a schedule that read it there.
struct Copy {
  std::string name;                             ///< a tensor of its own, with a format of its own
  std::string tensor;                           ///< what it is a copy of
  std::vector<std::vector<std::string>> reads;  ///< the indices it is read with, each once
  bool operator==(const Copy&) const = default;
};

}  // namespace schaas::problem
