#include "compiler/support/instruction_set.h"

#include <algorithm>
#include <fstream>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "compiler/support/digest.h"

// The table of targets. Code for x86-64 levels is compiled by name and runs where all features of the level
// do; `native` is one processor, told apart from others by a digest of its name and features. A client asks
// runs_here before it loads a kernel: a missing instruction would end its process.
namespace schaas::support {
namespace {

const std::string native = "native";
constexpr std::size_t digits = 8;

/// Returns the name and features of the first processor as the system reports them, under the keys of several
/// architectures.
std::string description() {
  std::string text;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const char* word : {"vendor_id", "cpu family", "model", "stepping", "flags", "CPU ", "Features"})
      if (line.rfind(word, 0) == 0) text += line + "\n";
  }
  return text;
}

#if defined(__x86_64__)
// The x86-64 psABI levels, feature by feature (older compilers do not know the level names).
bool runs_v2() {
  return __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") &&
         __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
         __builtin_cpu_supports("popcnt");
}
// F16C, MOVBE and LZCNT, which not every compiler knows by name.
bool has_rest_of_v3() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned f16c = 1U << 29, movbe = 1U << 22, lzcnt = 1U << 5;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & f16c) == 0 || (c & movbe) == 0) return false;
  return __get_cpuid(0x80000001U, &a, &b, &c, &d) != 0 && (c & lzcnt) != 0;
}
bool runs_v3() {
  return runs_v2() && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
         has_rest_of_v3();
}
bool runs_v4() {
  return runs_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
bool runs_v2() { return false; }
bool runs_v3() { return false; }
bool runs_v4() { return false; }
#endif

bool runs_everywhere() { return true; }

}  // namespace

// Native code has the instructions of its processor and generic tuning. Tuned for the processor as well, GCC
// 12 loads operands again for each multiplication (docs/performance/kernels.md).
const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> all = {
      {"x86-64-v2", Device::processor, 1, true, {"-march=x86-64-v2"}, runs_v2},
      {"x86-64-v3", Device::processor, 2, true, {"-march=x86-64-v3"}, runs_v3},
      {"x86-64-v4", Device::processor, 3, true, {"-march=x86-64-v4"}, runs_v4},
      {"generic", Device::processor, 0, false, {}, runs_everywhere},
      {native, Device::processor, 4, false, {"-march=native", "-mtune=generic"}, nullptr},
      {gpu_isa, Device::gpu, 0, false, {}, nullptr},
  };
  return all;
}

/// A name like `native:1a2b3c4d`, of this processor or another, has the row of `native`.
const InstructionSet* find_instruction_set(const std::string& isa) {
  const std::string& name = is_native(isa) ? native : isa;
  const auto& all = instruction_sets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_for_gpu(const std::string& isa) {
  const InstructionSet* found = find_instruction_set(isa);
  return found != nullptr && found->device == Device::gpu;
}

/// Native code runs on the very processor it names. The row of `native` itself and GPUs run nowhere here.
bool runs_here(const std::string& isa) {
  if (is_native(isa)) return isa == native_isa();
  const InstructionSet* found = find_instruction_set(isa);
  return found != nullptr && found->runs_here != nullptr && found->runs_here();
}

const std::string& native_isa() {
  static const std::string isa = native + ":" + digest_of(description()).sha256.substr(0, digits);
  return isa;
}

std::string exact_isa(const std::string& isa) { return isa == native ? native_isa() : isa; }

bool is_native(const std::string& isa) { return isa.rfind(native + ":", 0) == 0; }

}  // namespace schaas::support
