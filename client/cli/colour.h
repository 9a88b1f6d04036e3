#pragma once
#include <string>
#include <string_view>

#include "compiler/support/diagnostic.h"

/// Colour for people, as --color says: by default on terminals alone, and there neither with NO_COLOR set
/// (no-color.org) nor with TERM=dumb.
namespace schaas::cli {

enum class Ink { good, careful, bad };

/// `text` for standard output.
std::string painted(Ink ink, const std::string& text);

/// Renders as support::render() for standard error, with the kind of the error and its range emphasised.
std::string painted(const support::Diagnostic& diagnostic);

/// A text that may hold words of a server's, as it may be written to a terminal: support::printable() but for
/// the colours of `painted`.
std::string shown(std::string_view text);

/// Returns the number of columns of a text on a terminal: its bytes except those of colours.
std::size_t columns_of(const std::string& text);

}  // namespace schaas::cli
