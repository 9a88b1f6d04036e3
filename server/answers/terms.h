#pragma once
#include <vector>

#include "compiler/concrete_notation/leaf_code.h"
#include "compiler/cost/cost.h"
#include "compiler/cost/leaf_nests.h"
#include "compiler/cost/memory_terms.h"
#include "compiler/problem/problem.h"
#include "proto/answers.h"

/// Costs of the search, which are bits, as the sums of products that answers hold.
namespace schaas::server {

/// Each term carries the weight of its access class.
std::vector<answers::Term> time_terms(const cost::Cost& cost, const cost::Variables& variables);
/// Returns the memory of a cost class, in elements; its schedules may differ in scopes.
std::vector<answers::Term> memory_terms(const cost::Cost& cost, const cost::Variables& variables);
/// Returns the memory of a schedule, in elements.
std::vector<answers::Term> memory_terms(const std::vector<cost::MemoryTerm>& terms,
                                        const cost::Variables& variables);
/// `code`: of each leaf of the tree; empty: it is not known.
std::vector<answers::Nest> nests(const std::vector<cost::LeafNest>& nests, const cost::Variables& variables,
                                 const std::vector<concrete_notation::LeafCode>& code = {});
std::vector<answers::Constraint> constraints(const problem::Problem& problem);

}  // namespace schaas::server
