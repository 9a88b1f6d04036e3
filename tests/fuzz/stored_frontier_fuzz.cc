// The payload of a stored frontier.
#include "server/storage/stored_frontier.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {

void one(std::string_view bytes) {
  const auto stored = server::parse_frontier(bytes);
  if (!stored.ok()) return;
  const std::string text = server::print_frontier(*stored);
  const auto again = server::parse_frontier(text);
  require(again.ok() && server::print_frontier(*again) == text);
}

}  // namespace schaas::fuzz
