#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// A linear section of a loop tree: the loops from the end of its path down to one assignment. A path ends at
/// the root or at one side of a `where`. Loops above the section are not its own.
struct Section {
  std::vector<std::string> loops;  ///< outermost first
  index_notation::Access target;
  index_notation::Expression value;
  operators::Monoid monoid = operators::Monoid::sum;
};

/// Returns the factors of the section's value. Errors: invalid [illegal-directive]: it is no product of
/// accesses.
support::Result<std::vector<index_notation::Access>> factors_of(const Section& section);

/// Returns the statement in which the section at `path` begins, linear or branched. Errors: invalid
/// [illegal-directive]: the path leads nowhere.
support::Result<concrete_notation::StatementPtr> find_statement(const concrete_notation::StatementPtr& tree,
                                                                const Path& path);

/// Returns the linear section at `path`. Errors: invalid [illegal-directive]: the path leads nowhere, or the
/// section is branched.
support::Result<Section> find_section(const concrete_notation::StatementPtr& tree, const Path& path);

/// Replaces the section at `path`, which must exist.
concrete_notation::StatementPtr replace_section(const concrete_notation::StatementPtr& tree, const Path& path,
                                                const concrete_notation::StatementPtr& replacement);

concrete_notation::StatementPtr statement_of(const Section& section);

/// Prints a path: "{1,0}".
std::string print(const Path& path);

}  // namespace schaas::schedule
