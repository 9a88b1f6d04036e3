#pragma once
#include <optional>
#include <vector>

#include "compiler/format/tensor_format.h"
#include "compiler/operators/operators.h"

/// Coiteration of the levels that one loop index binds (Kjolstad et al., OOPSLA 2017, section 5; Henry et
/// al., OOPSLA 2021, section 5, for functions other than + and *).
///
/// The iteration space of an expression is a boolean formula over the levels that skip coordinates. At
/// coordinates where it is false, the expression has one known value. It follows from the operators' values
/// at unstored elements, never from their names. A product is zero where one factor is, max(B, C) is 0 where
/// both B and C are, exp(B) is 1 where B is 0. Elements that are not stored annihilate: 0 / x and 0 * x are 0
/// whatever x is.
namespace schaas::merge_lattice {

/// Level `level` of operand `operand` (the caller's number) is bound by the index.
struct LevelAccess {
  int operand = 0;
  int level = 0;
  bool operator==(const LevelAccess&) const = default;
};

/// A set of coordinates: those a level holds, all, none, and unions and intersections of such.
struct Formula {
  enum class Kind {
    none,          ///< no coordinate
    every,         ///< all coordinates
    level,         ///< those the level holds
    intersection,  ///< those in all parts
    united,        ///< those in any part
  } kind = Kind::none;
  LevelAccess level{};
  std::vector<Formula> parts{};  ///< at least two, none of them none, every or of this kind
  bool operator==(const Formula&) const = default;
};

Formula none();
Formula every();
Formula held(LevelAccess level);
/// Flattened, without parts that are there twice; what one of several contains goes (absorption).
Formula intersection(const std::vector<Formula>& parts);
Formula united(const std::vector<Formula>& parts);
/// The levels of a formula, in order of appearance, each once.
std::vector<LevelAccess> levels_of(const Formula& formula);

/// Set of coordinates at which an expression must be evaluated, and its value elsewhere (nothing when
/// `visited` is every).
struct Space {
  Formula visited;
  std::optional<double> otherwise;
};

Space literal(double value);
/// An access whose element may be anything everywhere (a dense level, or a level bound further out).
Space anywhere();
/// An access through a level that holds only some coordinates; the others have the value `fill`.
Space stored(LevelAccess level, double fill);
/// Returns the space of a semiring's product; its zero annihilates.
Space product(const std::vector<Space>& factors, const operators::Semiring& semiring);
/// Returns the space of a function of its arguments.
Space apply(operators::Function function, const std::vector<Space>& arguments);
/// Returns the coordinates at which folding the expression may change an accumulator that is at `start` or
/// beyond. There the expression is not known to be `start`.
Formula contributing(const Space& space, double start);

}  // namespace schaas::merge_lattice
