#pragma once
#include <string>

#include "compiler/support/diagnostic.h"

/// Colour for people: on terminals alone, and there neither with NO_COLOR set (no-color.org) nor with
/// TERM=dumb.
namespace schaas::cli {

enum class Ink { good, careful, bad };

/// `text` for standard output.
std::string painted(Ink ink, const std::string& text);

/// support::render() for standard error: what kind of error it is, and the place, stand out.
std::string painted(const support::Diagnostic& diagnostic);

/// Returns the number of columns of a text on a terminal: its bytes except those of colours.
std::size_t columns_of(const std::string& text);

}  // namespace schaas::cli
