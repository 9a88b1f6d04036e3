#include "schaas/gradient.h"

#include <algorithm>

#include "compiler/format/blocks.h"
#include "compiler/format/tensor_format.h"
#include "compiler/index_notation/gradient/gradient.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/support/nearest_name.h"
#include "schaas/expression.h"

namespace schaas::client {
namespace {

/// Checks the type in which the operand is stored, where its format says one.
support::Result<void> check_type(const Access& of, const format::TensorFormat& format) {
  if (!format.values || (!operators::is_integer(*format.values) && !operators::is_complex(*format.values)))
    return {};
  const bool complex = operators::is_complex(*format.values);
  const std::string name = operators::facts(*format.values).name;
  return support::noting(
      support::unsupported("gradient",
                           "`" + of.tensor + "` is stored as " + name + "; derivatives are by real numbers"),
      complex ? "compute with real and imaginary parts in operands of their own"
              : "store it as f64, f32, bf16 or f16; operands that are no variables may be integers");
}

}  // namespace

support::Result<std::string> gradient(std::string_view expression, const GradientOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(const Program program, parse_program(expression));
  SCHAAS_RETURN_IF_ERROR(index_notation::verify(program, expression));
  index_notation::GradientOptions how{options.of, options.seed, options.name, {}};
  const std::vector<Access> read = operands(program);
  for (const auto& [tensor, text] : options.formats) {
    const auto access = std::find_if(read.begin(), read.end(),
                                     [&, name = tensor](const Access& each) { return each.tensor == name; });
    if (access == read.end()) {
      return support::invalid("unknown-tensor", "the format of `" + tensor +
                                                    "` is given, which is no operand" +
                                                    support::did_you_mean(tensor, arguments(program)));
    }
    SCHAAS_ASSIGN_OR_RETURN(
        const auto format,
        format::parse(format::without_blocks(text), static_cast<int>(access->indices.size()), tensor));
    if (tensor == options.of) SCHAAS_RETURN_IF_ERROR(check_type(*access, format));
    if (!format.all_dense()) how.sparse.insert(tensor);
  }
  SCHAAS_ASSIGN_OR_RETURN(const Program made, index_notation::gradient(program, how, expression));
  return index_notation::print(made);
}

}  // namespace schaas::client
