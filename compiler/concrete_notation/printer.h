#pragma once
#include <string>

#include "compiler/concrete_notation/nodes.h"

namespace schaas::concrete_notation {

/// One line: "forall(i, forall(j, where(forall(l, A(i,l) += t1 * E(j,l)), forall(k, t1 += B(i,j) *
/// C(i,k)))))".
std::string print(const StatementPtr& statement);
/// The papers' short form of the loop tree: "ij<k,l>" = loops<producer,consumer>; a name longer than one
/// letter is separated by spaces; "i:48<ij,ik>" is a branch inside blocks of 48 values of i, "i[j,kj]" the
/// terms of a sum one after another.
std::string print_loop_tree(const StatementPtr& statement);
/// Indented, for people: one loop, temporary or statement per line.
std::string print_indented(const StatementPtr& statement);

}  // namespace schaas::concrete_notation
