#pragma once
#include <map>
#include <string>
#include <vector>

#include "client/cli/operands.h"
#include "client/cli/progress.h"
#include "schaas/select.h"

namespace schaas::cli {

/// The tensors as a kernel reads them, operands and result.
struct Packed {
  std::map<std::string, client::PackedTensor> tensors;
  std::string result;
  client::Buffer before;  ///< of a result that is updated: the values it starts from

  /// Gives an updated result the values it starts from, before each run.
  void restart();
  /// Pointers in the order of a kernel's arguments.
  std::vector<client::PackedTensor*> arguments(const std::vector<std::string>& order);
};

/// Packs every operand into its format and makes room for the result. Errors: those of client::pack,
/// client::validate and client::zeros.
support::Result<Packed> pack_all(const Operands& operands, const client::Program& program,
                                 client::ValueType type, ProgressLine& progress);

client::Sizes all_sizes(const Operands& operands, const Packed& packed);
/// Without the tensors whose entries their extents tell.
client::Sizes reported_sizes(client::Sizes sizes, const Packed& packed);

}  // namespace schaas::cli
