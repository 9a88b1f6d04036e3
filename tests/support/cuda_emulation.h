// What a generated CUDA source needs to be compiled as C++ and run on the host: read before it, with
// -include.
//
// The threads of a warp are fibers that run one after another and wait at shuffles and ballots until all
// threads of the mask have come by; one that does not come is an error, not a hang. All run on one thread of
// the host: lanes in a mixed order, warps of a block from the last to the first, blocks in order. So
// neighbours write before and after each other. Values are those of CUDA; timing is not, and other races are
// not found.
#pragma once
#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "proto/gpu_abi.h"
#include "proto/kernel_abi.h"

#define SCHAAS_EMULATION 1
#define SCHAAS_GPU_PROLOGUE 1
#define __global__
#define __device__
#define __host__
#define __launch_bounds__(threads)
#define __shared__ static  // one warp runs at a time, and no statement reads what another warp staged

namespace schaas_emulation {

constexpr int warp_size = 32;
constexpr size_t stack_bytes = 64 * 1024;

struct Index {
  unsigned x = 0;
};

enum class State { fresh, ready, waiting, done };

struct Lane {
  State state = State::done;
  ucontext_t start;
  jmp_buf at;
  unsigned mask = 0;
  int operation = 0;  ///< a number for each kind of shuffle and width
  uint64_t bits = 0;
  const uint64_t* seen = nullptr;  ///< values of the threads of the mask
};

struct Machine {
  Lane lanes[warp_size];
  uint64_t brought[warp_size][warp_size];
  char* stacks = static_cast<char*>(malloc(warp_size * stack_bytes));
  jmp_buf scheduler;
  int current = 0;
  int error = 0;
  void (*body)(const void*) = nullptr;
  const void* data = nullptr;
  Index thread, block, block_size, grid_size;
  ~Machine() { free(stacks); }
};

inline Machine& machine() {
  static Machine one;
  return one;
}

inline void enter() {
  Machine& m = machine();
  m.body(m.data);
  m.lanes[m.current].state = State::done;
  _longjmp(m.scheduler, 1);
}

/// Runs one lane until it waits or is done.
inline void resume(Machine& m, int lane, unsigned first_thread) {
  m.current = lane;
  m.thread.x = first_thread + static_cast<unsigned>(lane);
  if (_setjmp(m.scheduler) != 0) return;
  Lane& one = m.lanes[lane];
  if (one.state != State::fresh) _longjmp(one.at, 1);
  one.state = State::ready;
  setcontext(&one.start);
}

/// All threads of the mask wait at the same operation.
inline bool complete(const Machine& m, int lane) {
  const Lane& one = m.lanes[lane];
  for (int other = 0; other < warp_size; ++other) {
    if ((one.mask >> other & 1u) == 0) continue;
    const Lane& two = m.lanes[other];
    if (two.state != State::waiting || two.mask != one.mask || two.operation != one.operation) return false;
  }
  return true;
}

inline void release(Machine& m, int first) {
  const unsigned mask = m.lanes[first].mask;
  for (int lane = 0; lane < warp_size; ++lane) m.brought[first][lane] = m.lanes[lane].bits;
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    m.lanes[lane].seen = m.brought[first];
    m.lanes[lane].state = State::ready;
  }
}

/// 0, or 1 when a thread of a mask never comes by.
inline int run_warp(Machine& m, unsigned first_thread) {
  for (int lane = 0; lane < warp_size; ++lane) {
    Lane& one = m.lanes[lane];
    getcontext(&one.start);
    one.start.uc_stack.ss_sp = m.stacks + static_cast<size_t>(lane) * stack_bytes;
    one.start.uc_stack.ss_size = stack_bytes;
    one.start.uc_link = nullptr;
    makecontext(&one.start, enter, 0);
    one.state = State::fresh;
  }
  for (;;) {
    bool ran = false, all_done = true;
    for (int n = 0; n < warp_size; ++n) {
      const int lane = n * 5 % warp_size;  // 13 of 32 lanes run before the one below them
      const State state = m.lanes[lane].state;
      if (state != State::fresh && state != State::ready) continue;
      resume(m, lane, first_thread);
      ran = true;
    }
    for (int lane = 0; lane < warp_size; ++lane) {
      if (m.lanes[lane].state == State::waiting && complete(m, lane)) release(m, lane), ran = true;
      all_done = all_done && m.lanes[lane].state == State::done;
    }
    if (all_done) return m.error;
    if (!ran) return 1;
  }
}

inline const uint64_t* meet(unsigned mask, int operation, uint64_t bits) {
  Machine& m = machine();
  Lane& one = m.lanes[m.current];
  if ((mask >> m.current & 1u) == 0) m.error = 2;
  one.mask = mask | 1u << m.current;
  one.operation = operation;
  one.bits = bits;
  one.state = State::waiting;
  if (_setjmp(one.at) == 0) _longjmp(m.scheduler, 1);
  return one.seen;
}

template <class Value>
Value shuffle(unsigned mask, Value value, int distance, int width) {
  Machine& m = machine();
  const int lane = m.current, place = lane % width;
  const int from = place + distance >= 0 && place + distance < width ? lane + distance : lane;
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  const uint64_t* seen = meet(mask, 64 * distance + width, bits);
  if ((mask >> from & 1u) == 0) m.error = 2;
  memcpy(&value, &seen[from], sizeof value);
  return value;
}

template <class To, class From>
To same_bits_as(From from) {
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace schaas_emulation

#define threadIdx (schaas_emulation::machine().thread)
#define blockIdx (schaas_emulation::machine().block)
#define blockDim (schaas_emulation::machine().block_size)
#define gridDim (schaas_emulation::machine().grid_size)

template <class Value>
Value __shfl_down_sync(unsigned mask, Value value, int distance, int width) {
  return schaas_emulation::shuffle(mask, value, distance, width);
}
template <class Value>
Value __shfl_up_sync(unsigned mask, Value value, int distance, int width) {
  return schaas_emulation::shuffle(mask, value, -distance, width);
}
template <class Value>
Value __shfl_xor_sync(unsigned mask, Value value, int offset, int width) {
  const int other = schaas_emulation::machine().current ^ offset;
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  const uint64_t* seen = schaas_emulation::meet(mask, (1 << 21) + 64 * offset + width, bits);
  if ((mask >> other & 1u) == 0) schaas_emulation::machine().error = 2;
  memcpy(&value, &seen[other], sizeof value);
  return value;
}
inline unsigned __ballot_sync(unsigned mask, bool vote) {
  const uint64_t* seen = schaas_emulation::meet(mask, 1 << 20, vote ? 1 : 0);
  unsigned votes = 0;
  for (int lane = 0; lane < schaas_emulation::warp_size; ++lane)
    votes |= (mask >> lane & 1u) != 0 && seen[lane] != 0 ? 1u << lane : 0u;
  return votes;
}
inline void __syncwarp(unsigned mask) { schaas_emulation::meet(mask, 1 << 22, 0); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __float_as_int(float x) { return schaas_emulation::same_bits_as<int>(x); }
inline float __uint_as_float(unsigned x) { return schaas_emulation::same_bits_as<float>(x); }
inline float __int_as_float(int x) { return schaas_emulation::same_bits_as<float>(x); }
inline long long __double_as_longlong(double x) { return schaas_emulation::same_bits_as<long long>(x); }
inline double __longlong_as_double(long long x) { return schaas_emulation::same_bits_as<double>(x); }
template <class Bits>
Bits atomicCAS(Bits* at, Bits expected, Bits next) {
  const Bits found = *at;
  if (found == expected) *at = next;
  return found;
}
template <class Value>
Value atomicAdd(Value* at, Value x) {
  const Value found = *at;
  *at = found + x;
  return found;
}

/// A launch: 0, 1: a thread of a group did not come by, 2: it was not in the mask, or asked who was not.
template <class Kernel>
int32_t schaas_emulate(int64_t blocks, int threads, const Kernel& kernel) {
  using namespace schaas_emulation;
  Machine& m = machine();
  m.body = [](const void* data) { (*static_cast<const Kernel*>(data))(); };
  m.data = &kernel;
  m.error = 0;
  m.block_size.x = static_cast<unsigned>(threads);
  m.grid_size.x = static_cast<unsigned>(blocks);
  for (int64_t block = 0; block < blocks; ++block) {
    m.block.x = static_cast<unsigned>(block);
    for (int first = (threads - 1) / warp_size * warp_size; first >= 0; first -= warp_size) {
      if (const int error = run_warp(m, static_cast<unsigned>(first))) return error;
    }
  }
  return 0;
}

// A kernel for a GPU as one for the CPU (proto/kernel_abi.h): a launch is a phase with one iteration.
namespace schaas_emulation {

constexpr int64_t workspace_threads = 1024;

template <const schaas_gpu_descriptor& kernel, int phase>
int32_t run_phase(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin,
                  int64_t end) {
  if (begin >= end) return 0;
  const schaas_gpu_phase& described = kernel.phases[phase];
  alignas(16) char parameters[4096];
  if (described.parameter_bytes > static_cast<int32_t>(sizeof parameters)) return 3;
  const int64_t asked = described.prepare(args, shared, workspace, workspace_threads, parameters);
  if (asked < 0) return 4;
  const int64_t blocks = asked > 3 ? 3 : asked;  // several turns for each thread
  return described.launch(parameters, blocks, nullptr);
}
inline int64_t one(const schaas_tensor* const*) { return 1; }
template <const schaas_gpu_descriptor& kernel>
int64_t workspace_bytes(const schaas_tensor* const* args) {
  return kernel.workspace_bytes(args) * workspace_threads;
}
template <const schaas_gpu_descriptor& kernel>
schaas_kernel_descriptor described() {
  static const schaas_phase phases[] = {
#define SCHAAS_PHASE(n) {run_phase<kernel, n>, one, 0, -1, 0, 0, 0, -1, nullptr, nullptr, nullptr, nullptr, 0}
      SCHAAS_PHASE(0), SCHAAS_PHASE(1), SCHAAS_PHASE(2), SCHAAS_PHASE(3),
      SCHAAS_PHASE(4), SCHAAS_PHASE(5), SCHAAS_PHASE(6), SCHAAS_PHASE(7),
#undef SCHAAS_PHASE
  };
  schaas_kernel_descriptor out = {};
  out.abi_version = SCHAAS_KERNEL_ABI_VERSION;
  out.argument_count = kernel.argument_count;
  out.phase_count = kernel.phase_count <= 8 ? kernel.phase_count : 0;
  out.shared_count = kernel.shared_count;
  out.phases = phases;
  out.shared_bytes = kernel.shared_bytes;
  out.workspace_bytes = workspace_bytes<kernel>;
  out.key = kernel.key;
  out.problem = kernel.problem;
  out.schedule = kernel.schedule;
  static const char* const names[] = {"emulated", "emulated entries 0", "emulated entries 1",
                                      "emulated entries 2", "emulated entries 3"};
  out.isa = names[kernel.result_entries_of < 4 ? kernel.result_entries_of + 1 : 0];
  out.result_fill = kernel.result_fill;
  out.writes_all = kernel.writes_all;
  out.copy_count = kernel.copy_count;
  out.copies = kernel.copies;
  out.fixed_count = kernel.fixed_count;
  out.fixed = kernel.fixed;
  return out;
}

}  // namespace schaas_emulation
