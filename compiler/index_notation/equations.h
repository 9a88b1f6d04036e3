#pragma once
#include "compiler/index_notation/selections.h"
#include "compiler/support/result.h"

namespace schaas::index_notation {

/// Writes equations of two indices as selections, `==(i,j)`, where loops need not visit every pair of them.
/// These stand in sums with a tensor whose entries are walked along one of the two, and in sparse results.
/// Loops then walk a diagonal beside what is stored. A choice by an equation is taken apart:
///     A(i,j) = d(i) * (i == j) - B(i,j)        ->  A(i,j) = d(i) * ==(i,j) - B(i,j)
///     A(i,j) = where(i == j, 1, B(i,j))        ->  A(i,j) = ==(i,j) + where(i == j, 0, B(i,j))
///
/// Terms that walk entries of their own stay. So do all under other semirings than plus-times, where the
/// number 1 is not the product's identity. The extents of the two indices may differ.
Program with_equations_selected(const Program& program, const WalkedLevel& walked_level);

/// Returns the program with an operand for each range and each equation that is a selection; nothing where it
/// has neither. Errors: those of verify; `text` is the program's.
support::Result<std::optional<SelectedProgram>> selected_program(const Program& program,
                                                                 const WalkedLevel& walked_level,
                                                                 const std::string& text);

}  // namespace schaas::index_notation
