#include "compiler/index_notation/costly_calls.h"

#include "compiler/operators/operators.h"

namespace schaas::index_notation {
namespace {

void collect(const Expression& value, std::vector<const Expression*>& out) {
  const auto* call = std::get_if<Call>(&value.node);
  if (call != nullptr && operators::is_costly(call->function)) out.push_back(&value);
  for (const Expression& part : parts(value)) collect(part, out);
}

}  // namespace

std::vector<const Expression*> costly_calls(const Expression& value) {
  std::vector<const Expression*> out;
  collect(value, out);
  return out;
}

}  // namespace schaas::index_notation
