#pragma once
#include <optional>
#include <string>
#include <vector>

namespace schaas::problem {

/// A re-layout: `tensor` is stored once more, in another order of modes, or with coordinates of its first
/// level that are located (format::copy_format). It is read there by its accesses with the indices `at`, or
/// by all of them.
struct CopyRequest {
  std::string tensor;
  std::optional<std::vector<std::string>> at;
  std::vector<int> order;  ///< storage order: level l of the copy stores mode order[l]
  bool locates = false;    ///< the first level, which lists coordinates in the original, is dense
  bool operator==(const CopyRequest&) const = default;
};

/// An operand stored a second time, for the accesses of a schedule that read it there.
struct Copy {
  std::string name;                             ///< a tensor of its own, with a format of its own
  std::string tensor;                           ///< its original
  std::vector<std::vector<std::string>> reads;  ///< indices it is read with, each once
  bool locates = false;                         ///< as requested
  bool operator==(const Copy&) const = default;
};

}  // namespace schaas::problem
