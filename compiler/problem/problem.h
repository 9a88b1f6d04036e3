#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/format/tensor_format.h"
#include "compiler/index_notation/nodes.h"
#include "compiler/operators/operators.h"
#include "compiler/operators/value_type.h"
#include "compiler/problem/constraint.h"
#include "compiler/problem/copy.h"
#include "compiler/problem/mask.h"
#include "compiler/problem/space_options.h"
#include "compiler/support/result.h"

/// A problem: a program, formats of its tensors, value type, position width, constraints on extents and
/// nonzero counts, and rule set of the search.
namespace schaas::problem {

using operators::name;
using operators::ValueType;
enum class Profile {
  standard,    ///< the symmetric space, sound pruning, access-aware cost (`--profile default`)
  sparseauto,  ///< the papers' as-written space and stages (`--profile sparseauto`)
};

struct Problem {
  /// Statements before the last: each defines an intermediate, read by later ones, that is no argument of the
  /// kernel. Canonical order: as written.
  std::vector<index_notation::Assignment> intermediates{};
  index_notation::Assignment statement;  ///< the last one: its target is the result
  /// Arithmetic of implied sums and products, and the value of unstored elements.
  const operators::Semiring* semiring = &operators::plus_times();
  std::map<std::string, format::TensorFormat> formats;  ///< one per argument; intermediates are dense
  ValueType value_type = ValueType::f64;                ///< in which kernels compute and write; no narrow one
  int position_bits =
      64;  ///< width of positions and coordinates: 32 or 64; always 64 without compressed levels
  Profile profile = Profile::standard;
  SpaceOptions space;  ///< extensions of the searched space; none under Profile::sparseauto
  /// Normal form, sorted, unique, of those that differ in their constant alone the strongest. A tensor used
  /// twice makes extents equal, in B(i,j) * B(j,k) all three. Constraints then use the first of these indices
  /// in index_variables order, and include `i <= j`, `j <= i` for each other one (constraint_set.h).
  std::vector<Constraint> constraints;
  /// Copies that a schedule's `store` directives add (copies.h): accesses that read a copy name it, and
  /// `formats` has its storage. None in a requested problem.
  std::vector<Copy> copies{};
  /// Patterns that `mask` directives add (masks.h): they stand among the accesses, and in `formats`, as their
  /// operands. None in a requested problem.
  std::vector<Pattern> patterns{};
  std::vector<Mask> masks{};
  /// The statements before `precompute` directives gave calls intermediates (precomputed.h); empty: none did.
  /// Indices and arguments keep the order that they have here.
  std::vector<index_notation::Assignment> without_precomputed{};
  bool operator==(const Problem&) const = default;

  /// Intermediates, then the last one.
  std::vector<index_notation::Assignment> statements() const;
  /// The statements in whose order names first appear.
  std::vector<index_notation::Assignment> naming_statements() const {
    return without_precomputed.empty() ? statements() : without_precomputed;
  }
  index_notation::Program program() const { return {semiring, statements()}; }
  /// Returns the distinct arguments: the result, then operands that no statement defines, in order of first
  /// appearance, then the copies. A read of a copy counts as an appearance of its original. This is the order
  /// of a kernel's arguments.
  std::vector<std::string> tensors() const;
  /// Indices of the first access to `tensor`, one per mode; of an intermediate those of its definition.
  std::vector<std::string> indices_of(const std::string& tensor) const;
  /// All index variables in order of first appearance.
  std::vector<std::string> indices() const { return index_notation::index_variables(naming_statements()); }
  /// The copy of that name, or null.
  const Copy* copy_named(const std::string& name) const;
  const Pattern* pattern_named(const std::string& name) const;  ///< or null
  const Mask* mask_of(const std::string& intermediate) const;   ///< or null
  /// Type in which values of an argument, a copy or a pattern are stored.
  ValueType stored_type(const std::string& tensor) const {
    return formats.at(tensor).values.value_or(value_type);
  }
  /// Accesses on the right, of all statements, to arguments and patterns.
  std::vector<index_notation::Access> reads() const;
  /// Accesses on the right of the last statement.
  std::vector<index_notation::Access> operands() const { return index_notation::operands(statement.value); }
};

/// True for a contraction, searched by the schedule space: one statement, under any semiring, whose right
/// side is a product of accesses or one access. No access repeats an index, some operand has each index of
/// the result, and the result starts from nothing or adds with the semiring's sum.
bool is_contraction(const Problem& problem);

/// Returns a type of values, the problem's or an operand's, that kernels for GPUs do not take; none: all do.
std::optional<ValueType> type_not_on_gpu(const Problem& problem);

/// The names constraints of the problem may use.
ConstraintScope scope_of(const Problem& problem);

/// The texts a user gives. Formats map tensor name -> format text; tensors without one are dense.
/// `position_bits` "auto" picks 32 when the constraints prove every nonzero count and extent below 2^31,
/// else 64 (upper_bounds.h).
struct ProblemText {
  std::string expression;
  std::map<std::string, std::string> formats;
  std::vector<std::string> constraints;
  std::string value_type = "f64";
  std::string position_bits = "auto";
  std::string profile = "default";
  std::string space = "none";  ///< space_options.h
};

/// Parses and checks everything; the result is verified. Statements that are sums and products alone come out
/// as products with implied sums (index_notation/implied_sums.h). Errors: those of index_notation::parse and
/// verify, format::parse, parse_constraint; invalid [unknown-tensor] (a format for a tensor that is not in
/// the expression, with suggestion), [number-range] (a number that f32 cannot tell); unsupported
/// [intermediate-format], [too-many-levels] (Limits); invalid [value-type], [position-bits], [profile],
/// [space], [too-many-constraints], [contradiction] (two bounds of one extent or count exclude each other;
/// both are quoted).
support::Result<Problem> build(const ProblemText& text);
/// The same problem with an operand for each range, and for each equation that is a selection, and with the
/// formats of these (index_notation/selections.h, equations.h). Errors: those of index_notation::parse and,
/// where there are ranges, verify.
support::Result<ProblemText> without_selections(const ProblemText& text);

const char* name(Profile profile);  ///< "default", "sparseauto"

/// Lines, in fixed order, of a problem without copies; parse_problem(print(p)) == p. The text a key is made
/// of (docs/cache_key.md):
///     schaas-problem 1
///     A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)
///     format A dense,dense:0,1        (one line per argument, in tensors() order)
///     values f64
///     positions 64
///     profile default
///     space row-blocks                (left out when it is none)
///     where 8 <= k                    (one line per constraint)
std::string print(const Problem& problem);
/// Inverse of print; used on stored rows, so errors are invalid [stored-problem].
support::Result<Problem> parse_problem(std::string_view text);

}  // namespace schaas::problem
