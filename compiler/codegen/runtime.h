#pragma once
#include <string_view>

/// The runtime of kernels: the headers of runtime/ as texts, from which each kernel prints those that it
/// needs. One text serves all instruction sets: predefined macros choose the width of vectors, and plain C
/// stands beside each use of an instruction. Functions over indices are made by macros for 32 and 64 bits and
/// chosen by _Generic. Nothing there allocates, is exported, or keeps state between calls; sizes of buffers
/// are those that lowering declares. runtime/embed.cmake makes the texts: the file without `///` lines,
/// `#pragma once` and its own #includes. Each needs the type `value` and what its header includes above it.
namespace schaas::codegen {

/// The structs of proto/kernel_abi.h.
std::string_view abi_declarations();
/// Vector types of the instruction set, unaligned; padding of buffers; binary search.
std::string_view vector_declarations();
/// Products and quotients of complex values and registers: value_multiply, vec_scale, vec_divide.
std::string_view complex_declarations();
/// Functions of complex values and registers, in place of function_declarations() and those of vectors. Needs
/// MATH.
std::string_view complex_function_declarations();
/// known_runs and RUN_END(coordinates, end, runs): the ends of the runs of equal coordinates in a long list,
/// one after another; where vectors have 64 bytes.
std::string_view run_declarations();
/// Functions that widen narrow operands to complex values, in place of narrow_declarations().
std::string_view complex_narrow_declarations();
/// PREFETCH, and the sizes above which prefetching pays: several L2 caches; more for wide rows, which
/// hardware prefetchers follow. docs/performance/kernels.md.
std::string_view prefetch_declarations();
/// Scalar functions such as value_maximum; c_expressions.h has the names. Needs libm and the macros UNUSED
/// and MATH. Those that are built on exp follow: exponential_declarations(), or DEFINE_LIBRARY_EXPONENTIALS
/// and DEFINE_SIGMOID(value, SELECT_ONE).
std::string_view function_declarations();
/// Vector functions such as vec_log. Needs function_declarations() above it.
std::string_view vector_function_declarations();
/// atomic_sum(address, number), atomic_max, ...: fold in one step for all threads.
std::string_view atomic_declarations();
/// SORT(array, begin, end): ascending, in place, without memory, n log n in the worst case.
std::string_view sort_declarations();
/// OCCUPY(set, list, count, extent, index) and COMPACT(set, list, count, extent) of loop_ir::Occupy and
/// Compact. Needs sort_declarations() above it.
std::string_view occupancy_declarations();
/// value_selected(first, a, b): a where `first` is 1, b where it is 0, without a branch.
std::string_view merge_declarations();
/// Functions that widen narrow operands: value_of_bf16, vec_of_i8. stored_declarations() defines those of
/// types that C has.
std::string_view narrow_declarations();
/// vec_counted(first), value_counted(first), ...: adjacent indices from `first` on, as values.
std::string_view coordinate_declarations();
/// EXPAND(name, list, values, coordinates, from, begin, end, scale) and COMPRESS(name, list, values, count)
/// of loop_ir::Expand and Compress.
std::string_view term_declarations();
/// ADD_SUPERNODE(sums, set, rows, factors, scale, position, end, positions, coordinates, values) of
/// loop_ir::AddSupernode: returns the position of the last row added.
std::string_view supernode_declarations();
/// STREAM_STORE(streaming, address, vec) stores, non-temporally where `streaming` is set and the address
/// IS_ALIGNED; STREAM_FENCE, after the last one, makes the stores visible to other threads. Plain stores
/// where the instruction set has no others.
std::string_view streaming_store_declarations();
/// GATHER_FIRST(array, coordinates, count) and FIRST_EIGHT(address, count): up to eight elements in a
/// register of eight values, then zeros; where vectors have 64 bytes.
std::string_view gather_declarations();
/// Searches in the tables of hashed levels; schaas_hash of proto/kernel_abi.h.
std::string_view find_declarations();
/// exp, expm1, tanh, sigmoid, log, log1p, sin and cos of the C prologue: value_exp, vec_tanh, ... Needs
/// vector_function_declarations() above it, and `value_word`, the unsigned integer as wide as `value`.
///
/// Algorithm: x = n * log 2 + r with |r| <= log(2) / 2. The Taylor series up to r^13 (f32: r^7) gives
/// exp(r) - 1 with a remainder below a quarter of the last digit's unit (ulp). For y = 2 |x|,
/// tanh |x| = (exp(y) - 1) / (exp(y) + 1), with the numerator from the same series. A positive x is 2^n times
/// some 1 + f between the roots of 1/2 and 2. Then log x = n * log 2 + log(1 + f). The last term is the
/// series of fdlibm (e_log.c) in f / (2 + f). For u = 1 + x as rounded, log1p x = log u + (x - (u - 1)) / u.
/// Sine and cosine: x = n * pi / 2 + r, then the series of fdlibm in r (f32: those of Cephes). pi / 2 has
/// three parts, of which the first two times n are exact up to 2^20 (f32: 2^13). Beyond, libm is called for
/// each value. Otherwise there is no branch and no table, so that loops over entries become vector code. One
/// value takes the same operations as each lane of a register: a result does not depend on its position in a
/// row. A vector library would call libm for remainders, with other results. Errors are at most 1.1 ulp for
/// exp and log, 2 ulp for sin, cos, expm1 and log1p, 3 ulp for tanh (tests/property/exponentials_test.cc).
/// Without fused multiply-add libm is faster and is called.
std::string_view exponential_declarations();

/// For GPUs, in CUDA C++: the structs of proto/gpu_abi.h.
std::string_view gpu_abi_declarations();
/// Device functions: searches, and division of mostly small numbers.
std::string_view device_declarations();
/// Device functions that widen narrow operands: value_of_bf16, load_adjacent_f16. Needs
/// device_declarations() above it.
std::string_view narrow_device_declarations();
/// Monoids, each with its fold and its atomic step: monoid_sum, monoid_max, ...
std::string_view monoid_declarations();
/// atomic_group<monoid, width>(array, index, value), store_group, fold_group: a group of threads folds by
/// shuffles and its first thread writes. deferred_update<monoid>: a deferred atomic update; flush<width>() is
/// the segment reduction of a group (Sgap, section 5.3: atomicAddGroup and segReduceGroup).
std::string_view group_declarations();

}  // namespace schaas::codegen
