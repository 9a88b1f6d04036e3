#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/format/tensor_format.h"
#include "compiler/support/result.h"
#include "schaas/blocks.h"
#include "schaas/expression.h"
#include "schaas/select.h"
#include "schaas/tensor.h"
#include "schaas/tensor_files.h"

/// The tensors of one computation as they were read, and packed as its kernels take them.
namespace schaas::client {

struct Operand {
  std::string name;
  std::string file;             ///< "" when filled from the seed
  std::string format_text;      ///< as given with -f, else the default for what the file holds
  format::TensorFormat format;  ///< a matrix in blocks has csr
  TensorData data;
  std::string source{};  ///< origin of data that is neither a file's nor the seed's; "" of others
};

struct Operands {
  std::vector<Operand> tensors;                 ///< distinct, in order of first appearance
  std::map<std::string, std::int64_t> extents;  ///< extents of all indices
  format::TensorFormat result_format;
  std::string result_format_text = "dense";              ///< as given with -f
  int position_bits = 32;                                ///< 64 when a tensor needs it
  Blocks blocks{};                                       ///< matrices in blocks, if there are any
  std::map<std::string, std::int64_t> kernel_extents{};  ///< `extents`, and those of blocks
};

/// The tensors as a kernel reads them, operands and result.
struct Packed {
  std::map<std::string, PackedTensor> tensors;
  std::string result;
  ValueType value_type = ValueType::f64;  ///< type of the operands
  Buffer before;                          ///< initial values of a result that is updated

  /// Gives an updated result the values it starts from, before each run.
  void restart();
  /// Pointers in the order of a kernel's arguments.
  std::vector<PackedTensor*> arguments(const std::vector<std::string>& order);
};

/// Told the name of each tensor before it is packed.
using PackListener = std::function<void(const std::string&)>;

/// Packs every operand into its format and makes room for the result. Errors: those of pack, validate and
/// zeros.
support::Result<Packed> pack_all(const Operands& operands, const Program& program, ValueType type,
                                 const PackListener& listener = {});

/// The sizes of a program's tensors as kernels see them.
Sizes all_sizes(const Operands& operands, const Packed& packed, const Program& program);
/// Without the tensors whose entries their extents tell.
Sizes reported_sizes(Sizes sizes, const Packed& packed);

}  // namespace schaas::client
