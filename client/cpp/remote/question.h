#pragma once
#include <optional>
#include <string>

#include "compiler/problem/canonical.h"
#include "compiler/problem/stored_intermediate.h"
#include "compiler/support/signature.h"
#include "schaas/kernel_source.h"

/// Checks that what came from a server or a file belongs to the problem that was asked.
namespace schaas::client {

/// Returns the texts as a server reads them: what is empty has its default.
problem::ProblemText texts_with_defaults(const ProblemText& asked);
/// Derives the canonical form of a problem from its texts, as servers do. Kernels are signed for its key; an
/// answer must give back its names. Errors: those of problem::build.
support::Result<problem::Canonical> canonical_form(const ProblemText& asked);

/// A program as two requests: the consumer reads what the producer makes, stored sparse, as an operand.
struct ProgramParts {
  std::string tensor, format;  ///< the producer's result
  ProblemText producer, consumer;
};
/// The parts by problem::stored_intermediate, if there are two. Errors: those of problem::build.
support::Result<std::optional<ProgramParts>> program_parts(const ProblemText& asked);
/// Returns statements of a program as a request of their own (problem::part_of). Errors: those of
/// problem::build.
support::Result<ProblemText> part_of(const ProblemText& whole, const index_notation::Program& part);

/// Returns the constraints of a problem as its answers give them.
std::vector<Constraint> constraints_of(const problem::Canonical& asked);

/// The giver of an answer, for messages.
struct Origin {
  std::string name;    ///< "the server at unix:/s"
  std::string remedy;  ///< a note
};
Origin server_at(const std::string& address);
Origin file_at(const std::string& path);

/// Checks that a frontier answers the problem: its key, its text, its constraints, and the argument
/// and index that each canonical name stands for. Errors: invalid [answer-mismatch].
support::Result<void> check_frontier(const Frontier& frontier, const problem::Canonical& asked,
                                     const Origin& origin);

/// Checks that the owner of the key has answered the problem in these very texts: for answers from files,
/// where the problem is read, too. Errors: invalid [answer-signature].
support::Result<void> check_problem_signature(const ProblemText& problem, const Frontier& frontier,
                                              const support::PublicKey& key, const Origin& origin);

/// Checks that the owner of the key has signed a kernel for its problem_key and for this version of the ABI.
/// Errors: invalid [kernel-signature].
support::Result<void> check_signature(const KernelInfo& kernel, const support::PublicKey& key,
                                      const Origin& origin);

}  // namespace schaas::client
