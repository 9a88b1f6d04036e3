#pragma once
#include <string_view>

namespace schaas::codegen {

/// Parts of the C prologue; each needs those above it, and the type `value`.

/// Vector types of the instruction set, unaligned; padding of buffers; binary search.
std::string_view vector_declarations();
/// PREFETCH, and the sizes above which prefetching pays: several L2 caches; more for wide rows, which
/// hardware prefetchers follow. docs/performance/kernels.md.
std::string_view prefetch_declarations();
/// Scalar functions such as value_maximum; c_expressions.h has the names. Needs libm and the macros UNUSED
/// and MATH. Those that are built on exp follow: c_exponentials.h, or DEFINE_LIBRARY_EXPONENTIALS and
/// DEFINE_SIGMOID(value, SELECT_ONE).
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
/// EXPAND(list, values, coordinates, from, begin, end, scale) and COMPRESS(list, values, count) of
/// loop_ir::Expand and Compress.
std::string_view term_declarations();
/// ADD_SUPERNODE(sums, set, rows, factors, scale, position, end, positions, coordinates, values) of
/// loop_ir::AddSupernode: returns the position of the last row added.
std::string_view supernode_declarations();
/// STREAM_STORE(streaming, address, vec) stores, non-temporally where `streaming` is set and the address
/// IS_ALIGNED; STREAM_FENCE, after the last one, makes the stores visible to other threads. Plain stores
/// where the instruction set has no others.
std::string_view streaming_store_declarations();
/// Searches in the tables of hashed levels; schaas_hash of proto/kernel_abi.h.
std::string_view find_declarations();

}  // namespace schaas::codegen
