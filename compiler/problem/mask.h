#pragma once
#include <string>
#include <vector>

namespace schaas::problem {

/// The intermediate `tensor` is computed only where one of the operands `by` stores an entry.
struct MaskRequest {
  std::string tensor;
  std::vector<std::string> by;
  bool operator==(const MaskRequest&) const = default;
};

/// The pattern of an operand: a name that is read like a tensor. Its elements are the semiring's one where
/// the operand stores an entry, else its zero. It is no argument: the operand's positions tell it.
struct Pattern {
  std::string name;
  std::string tensor;  ///< the operand, or a copy of it
  bool operator==(const Pattern&) const = default;
};

/// An intermediate that is computed at the entries of patterns only: its definition is multiplied by them.
struct Mask {
  std::string tensor;
  std::vector<std::string> patterns;
  bool operator==(const Mask&) const = default;
};

}  // namespace schaas::problem
