#pragma once
#include <map>
#include <string>
#include <string_view>

#include "compiler/support/result.h"

namespace schaas::client {

/// A derivative to be made (docs/language.md, Derivatives).
struct GradientOptions {
  std::string of;      ///< operand with respect to which is differentiated
  std::string seed{};  ///< tensor that weights the result; empty: d and the result's name
  std::string name{};  ///< the derivative; empty: d and the operand's name
  std::map<std::string, std::string> formats{};  ///< formats of operands that are not dense
};

/// The program of the derivative, as text: a program like any other, made without a server. Errors: those of
/// parsing and verifying the expression, of formats, and of index_notation::gradient.
support::Result<std::string> gradient(std::string_view expression, const GradientOptions& options);

}  // namespace schaas::client
