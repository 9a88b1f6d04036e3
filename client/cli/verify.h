#pragma once
#include "compiler/support/result.h"
#include "schaas/operands.h"
#include "schaas/oracle.h"

namespace schaas::cli {

struct Verification {
  std::int64_t checked = 0;
  double max_relative_error = 0;
  double tolerance = 0;
  bool passed = false;
  double seconds = 0;
};

/// Computes the program again with the client's oracle, which shares no code with the compiler, and compares
/// every value of `result`; `packed` knows what else operands store. Errors: those of client::evaluate and
/// client::compare.
support::Result<Verification> verify(const client::Program& program, const client::Operands& operands,
                                     const client::Packed& packed, const client::PackedTensor& result);

}  // namespace schaas::cli
