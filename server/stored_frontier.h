#pragma once
#include <string>
#include <string_view>

#include "compiler/frontier/frontier.h"
#include "compiler/support/result.h"

namespace schaas::server {

/// The text a frontier is stored as: one JSON object in canonical names; costs as their terms (cost::Term, by
/// bit), traces as text. parse_frontier(print_frontier(f)) is f in every field. docs/storage.md.
std::string print_frontier(const frontier::Frontier& frontier);
/// Everything read from disk is checked: errors are internal [stored-frontier].
support::Result<frontier::Frontier> parse_frontier(std::string_view text);

/// "depth", "depth-poset", "termwise", "log-proof", "solver", "published": on disk and on the wire.
const char* kind_name(frontier::Certificate::Kind kind);

}  // namespace schaas::server
