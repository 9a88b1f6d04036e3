#pragma once
#include <map>
#include <set>
#include <string>

#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// Names of index variables that 32 bits hold, of a kernel for GPUs with positions of 32 bits. Registers
/// of a GPU have 32 bits, and the fewer a thread takes, the more threads run. Tensors whose extents or
/// entries come near the limit are refused at each launch (SCHAAS_GPU_MOST_ITERATIONS of proto/gpu_abi.h),
/// so a loop may step beyond its end. By default, and of other kernels, there are none.
class ShortIndices {
 public:
  ShortIndices() = default;
  explicit ShortIndices(const loop_ir::Kernel& kernel);

  bool any() const { return !names_.empty(); }
  bool has(const std::string& name) const { return names_.count(name) > 0; }
  /// 32 bits hold the value of the index expression.
  bool fits(const loop_ir::ExpressionPtr& expression) const;
  bool fits(const loop_ir::Apply& apply) const;
  /// Returns the C type of an index variable.
  const char* type_of(const std::string& name) const { return has(name) ? "int32_t" : "int64_t"; }

 private:
  std::set<std::string> names_;
  std::map<std::string, loop_ir::Element> elements_;
};

}  // namespace schaas::codegen
