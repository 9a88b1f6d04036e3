#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/index_notation/nodes.h"
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/support/result.h"

/// Programs as the client reads them: the compiler's index notation, and questions about whole programs.
namespace schaas::client {

using index_notation::Access;
using index_notation::Call;
using index_notation::Coordinate;
using index_notation::Expression;
using index_notation::Literal;
using index_notation::Product;
using index_notation::Program;
using index_notation::Reduction;
using Statement = index_notation::Assignment;
using operators::Function;
using operators::Monoid;
using operators::Semiring;

/// Reads a program without checking its meaning (ranks, order of definitions), which the server does. Errors:
/// those of index_notation::parse.
support::Result<Program> parse_program(std::string_view text);
using index_notation::with_semiring_of;

/// The readings of tensors that no statement defines, in order of appearance.
std::vector<Access> operands(const Program& program);
/// Lists the arguments of a kernel: the result, then the distinct tensors read that no statement defines.
std::vector<std::string> arguments(const Program& program);
/// All indices in order of first appearance; the last result's first.
std::vector<std::string> indices_of(const Program& program);
/// Pairs of indices that run over the same values because an intermediate is defined with one and read with
/// the other.
std::vector<std::pair<std::string, std::string>> linked_indices(const Program& program);

}  // namespace schaas::client
