#include "compiler/lower/passes_on_text.h"

#include <utility>

#include "compiler/loop_ir/parser.h"
#include "compiler/loop_ir/verifier.h"

namespace schaas::lower {

support::Result<loop_ir::Kernel> run_passes_on_text(std::string_view text, const PassOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto kernel, loop_ir::parse(text));
  SCHAAS_RETURN_IF_ERROR(loop_ir::verify(kernel));
  Names names(kernel);
  auto verified = options;
  verified.verify = true;
  return run_passes(std::move(kernel), names, verified);
}

}  // namespace schaas::lower
