#pragma once
#include <string>
#include <string_view>

#include "compiler/frontier/frontier.h"
#include "compiler/support/result.h"

namespace schaas::server {

/// Prints a frontier as one JSON object in canonical names: costs as terms (cost::Term, by bit), traces as
/// text. parse_frontier(print_frontier(f)) equals f in every field. docs/storage.md.
std::string print_frontier(const frontier::Frontier& frontier);
/// Parses and checks a stored frontier. Errors: internal [stored-frontier].
support::Result<frontier::Frontier> parse_frontier(std::string_view text);

/// Returns "depth", "depth-poset", "termwise", "log-proof", "solver", "published", ...: names on disk and on
/// the wire.
const char* kind_name(frontier::Certificate::Kind kind);

}  // namespace schaas::server
