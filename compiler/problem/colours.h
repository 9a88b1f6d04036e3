#pragma once
#include <cstdint>
#include <string>
#include <vector>

/// A problem as a coloured structure without names, and colour refinement on it: the invariant part of
/// canonical.cc.
namespace schaas::problem {

/// Everything a canonical form may depend on, with numbers for names.
struct Structure {
  struct Access {
    int tensor = 0;
    std::vector<int> indices;
  };
  /// A symbol in a constraint: the extent of a class of indices, or the nonzeros of a tensor's first levels.
  struct Use {
    bool extent = true;
    int id = 0;  ///< extent class, or tensor
    int levels = 0;
    int exponent = 1;
  };
  struct Term {
    bool right = false;  ///< which side of <=
    std::int64_t coefficient = 1;
    std::vector<Use> uses;
  };
  struct Relation {
    std::vector<Term> terms;
  };

  Access result;
  std::vector<Access> factors;
  std::vector<std::string> formats;  ///< by tensor; the result's last
  std::vector<bool> compressed;      ///< by tensor: some level is compressed
  std::vector<int> extent_class;     ///< by index; classes are 0, 1, ...
  int classes = 0;
  std::vector<Relation> relations;
};

/// Colours of the parts: equal for parts no renaming-invariant property found so far tells apart. Numbers are
/// invariant: isomorphic structures get the same colours on corresponding parts.
struct Colours {
  std::vector<int> factors, indices, tensors, classes;
  bool operator==(const Colours&) const = default;
};

/// Returns initial colours. All factors are alike; tensors differ by format, indices by their position in the
/// result, summed ones last. So A(i,k) = B(i,j) * B(j,k) keeps its order.
Colours initial_colours(const Structure& structure);
/// Gives one factor a colour different from all others.
Colours individualize(Colours colours, int factor);
/// Returns the coarsest refinement in which parts of one colour have, colour by colour, the same neighbours.
/// A factor's neighbours are its tensor and indices, an index's its positions and extent class, a tensor's
/// its factors. Constraints are neighbours of their symbols.
Colours refine(const Structure& structure, Colours colours);

}  // namespace schaas::problem
