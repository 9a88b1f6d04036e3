#pragma once
#include <string>
#include <vector>

/// The targets of code generation, in one table.
namespace schaas::support {

enum class Device { processor, gpu };

struct InstructionSet {
  std::string name;  ///< as requests, kernels and gcc's -march name it
  Device device = Device::processor;
  int rank = 0;                    ///< code for a higher rank is faster where it runs
  bool x86 = false;                ///< only a compiler for x86-64 makes it
  std::vector<std::string> flags;  ///< flags of the C compiler
  bool (*runs_here)() = nullptr;
};

/// "x86-64-v2", "x86-64-v3", "x86-64-v4", "generic" (any processor), "native" (one processor), "cuda".
const std::vector<InstructionSet>& instruction_sets();
/// Returns the row of a name, of "native:1a2b3c4d" that of "native"; null: unknown.
const InstructionSet* find_instruction_set(const std::string& isa);

inline const std::string default_isa = "x86-64-v3";
inline const std::string gpu_isa = "cuda";
/// The instruction set is one of GPUs.
bool is_for_gpu(const std::string& isa);
/// This processor runs code compiled for `isa`.
bool runs_here(const std::string& isa);

/// The processor of this machine as an instruction set, "native:1a2b3c4d". The digits distinguish processors
/// by name and features, so that code for one is not run by another. Thread-safe.
const std::string& native_isa();
/// `isa`, with "native" as the one of this machine.
std::string exact_isa(const std::string& isa);
/// The instruction set names one processor, this or another.
bool is_native(const std::string& isa);

}  // namespace schaas::support
