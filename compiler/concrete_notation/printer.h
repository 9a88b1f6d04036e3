#pragma once
#include <string>

#include "compiler/concrete_notation/nodes.h"

namespace schaas::concrete_notation {

/// Prints one line: "forall(i, forall(j, where(forall(l, A(i,l) += t1 * E(j,l)), forall(k, t1 += B(i,j) *
/// C(i,k)))))".
std::string print(const StatementPtr& statement);
/// Prints the papers' short form of the loop tree: "ij<k,l>" = loops<producer,consumer>. Names longer than
/// one letter are separated by spaces; "i:48<ij,ik>" is a branch inside blocks of 48 values of i, "i[j,kj]"
/// the terms of a sum one after another.
std::string print_loop_tree(const StatementPtr& statement);
/// Prints one loop, temporary or statement per line, indented, for people.
std::string print_indented(const StatementPtr& statement);

}  // namespace schaas::concrete_notation
