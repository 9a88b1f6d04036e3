#include "compiler/toolchain/nvrtc.h"

#include <dlfcn.h>

#include <array>
#include <vector>

#include "compiler/toolchain/programs.h"

// NVRTC by dlopen: no header or library of CUDA is needed to build. Types and names of its functions are
// repeated here, as of version 12. It runs in a process of its own (server/daemon/nvrtc_main.cc), which ends
// after one compilation.
namespace schaas::toolchain {
namespace {

using support::Result;

/// The newest first; then where the toolkit's installer puts it, which no loader looks in.
constexpr const char* libraries[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                     "/usr/local/cuda/lib64/libnvrtc.so"};

/// The library's functions by the names and types of nvrtc.h (nvrtcResult is an int, 0 is success).
struct Nvrtc {
  using Program = void*;
  int (*version)(int* major, int* minor) = nullptr;
  int (*create)(Program* program, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*destroy)(Program* program) = nullptr;
  int (*compile)(Program program, int options, const char* const* texts) = nullptr;
  int (*log_size)(Program program, std::size_t* bytes) = nullptr;
  int (*log)(Program program, char* text) = nullptr;
  int (*cubin_size)(Program program, std::size_t* bytes) = nullptr;
  int (*cubin)(Program program, char* bytes) = nullptr;
  int (*ptx_size)(Program program, std::size_t* bytes) = nullptr;
  int (*ptx)(Program program, char* bytes) = nullptr;
  const char* (*error_text)(int error) = nullptr;
};

/// Stays loaded: the process ends soon.
Result<Nvrtc> load() {
  void* handle = nullptr;
  std::string names;
  for (const char* const name : libraries) {
    names += (names.empty() ? "`" : ", `") + std::string(name) + "`";
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr)
    return support::unsupported("no-cuda", "the library NVRTC is not found (" + names + ")");
  Nvrtc nvrtc;
  std::string missing;
  // Remembers the first function that is missing, for the message.
  const auto find = [&](auto& function, const char* name) {
    void* const symbol = dlsym(handle, name);
    if (symbol == nullptr && missing.empty()) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find(nvrtc.version, "nvrtcVersion");
  find(nvrtc.create, "nvrtcCreateProgram");
  find(nvrtc.destroy, "nvrtcDestroyProgram");
  find(nvrtc.compile, "nvrtcCompileProgram");
  find(nvrtc.log_size, "nvrtcGetProgramLogSize");
  find(nvrtc.log, "nvrtcGetProgramLog");
  find(nvrtc.cubin_size, "nvrtcGetCUBINSize");
  find(nvrtc.cubin, "nvrtcGetCUBIN");
  find(nvrtc.ptx_size, "nvrtcGetPTXSize");
  find(nvrtc.ptx, "nvrtcGetPTX");
  find(nvrtc.error_text, "nvrtcGetErrorString");
  if (!missing.empty())
    return support::unsupported("no-cuda",
                                "the library NVRTC has no `" + missing + "`: version 12 or newer is needed");
  return nvrtc;
}

/// Headers that generated code includes: NVRTC has no system headers, and few of the built-ins that nvcc
/// takes from the host compiler. The types are those of Linux on 64 bits.
constexpr std::array<const char*, 3> header_names = {"stddef.h", "stdint.h", "string.h"};
constexpr std::array<const char*, 3> headers = {
    "#define __builtin_inf() ((double)__int_as_float(0x7f800000))\n",
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;\n"
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;\n"
    "typedef unsigned long uint64_t;\n"
    "#define INT64_C(x) x##L\n#define UINT64_C(x) x##UL\n",
    ""};

/// Reads data whose size the library reports first.
template <class Size, class Get>
std::string fetched(Nvrtc::Program program, Size size, Get get) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != 0) return "";
  std::string out(bytes, '\0');
  return get(program, out.data()) == 0 ? out : "";
}
/// The same of a text, whose size counts the zero at its end.
template <class Size, class Get>
std::string fetched_text(Nvrtc::Program program, Size size, Get get) {
  std::string out = fetched(program, size, get);
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace

Result<std::string> nvrtc_version() {
  SCHAAS_ASSIGN_OR_RETURN(const Nvrtc nvrtc, load());
  int major = 0, minor = 0;
  if (nvrtc.version(&major, &minor) != 0)
    return support::unsupported("no-cuda", "the library NVRTC does not tell its version");
  return "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
}

Result<std::string> nvrtc_compile(const std::string& source, const std::string& architecture) {
  SCHAAS_ASSIGN_OR_RETURN(const Nvrtc nvrtc, load());
  Nvrtc::Program program = nullptr;
  // Quotes the library's own text of the error and up to 20 lines of its log.
  const auto refused = [&](int status, const std::string& log) {
    return with_output(support::internal("compiler-failed", "NVRTC did not accept generated code: " +
                                                                std::string(nvrtc.error_text(status))),
                       log, 20);
  };
  int status = nvrtc.create(&program, source.c_str(), "kernel.cu", static_cast<int>(headers.size()),
                            headers.data(), header_names.data());
  if (status != 0) return refused(status, "");
  const std::string wanted = "--gpu-architecture=" + architecture;
  const std::array<const char*, 3> options = {wanted.c_str(), "--std=c++17", "--disable-warnings"};
  status = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  if (status != 0) {
    std::string log = fetched_text(program, nvrtc.log_size, nvrtc.log);
    nvrtc.destroy(&program);
    return refused(status, log);
  }
  // "compute_90" is a virtual architecture, for which there is PTX, a text, but no cubin.
  std::string module = architecture.starts_with("compute_") ? fetched_text(program, nvrtc.ptx_size, nvrtc.ptx)
                                                            : fetched(program, nvrtc.cubin_size, nvrtc.cubin);
  nvrtc.destroy(&program);
  if (module.empty()) return support::internal("compiler-failed", "NVRTC made no module for " + architecture);
  return module;
}

}  // namespace schaas::toolchain
