#pragma once
#include <string_view>

namespace schaas::codegen {

/// Pieces of C at the top of a source; each needs those above it, and the type `value`.

/// Registers of the instruction set compiled for, unaligned; padding of buffers; binary search.
std::string_view vector_declarations();
/// How loops ask ahead (loop_ir::For::ahead), and of which tensors it pays: those of several second-level
/// caches; of wide rows, which a processor fetches by itself, larger ones. docs/notes/performance.md,
/// section 40.
std::string_view ahead_declarations();
/// Functions of numbers: value_maximum. See c_expressions.h for the names. Needs libm and the macros UNUSED
/// and MATH.
std::string_view function_declarations();
/// The same for vectors of `value`: vec_exp. Needs function_declarations() above it.
std::string_view vector_function_declarations();
/// atomic_sum(address, number), atomic_max, ...: folds in one step for all threads.
std::string_view atomic_declarations();
/// SORT(array, begin, end): ascending, in place, no memory, n log n at worst.
std::string_view sort_declarations();
/// MARK(set, list, count, extent, place) and COLLECT(set, list, count, extent) of loop_ir::Mark and Collect.
/// Needs sort_declarations() above it.
std::string_view mark_declarations();
/// EXPAND(list, values, coordinates, from, begin, end, scale) and COMPRESS(list, values, count) of
/// loop_ir::Expand and Compress.
std::string_view term_declarations();
/// ADD_ALIKE(sums, set, rows, factors, scale, position, end, positions, coordinates, values) of
/// loop_ir::AddAlike: the position of the last row that was added.
std::string_view alike_declarations();
/// PUT(past, address, vec) stores, past the caches where `past` says so and the address IS_ALIGNED; STREAMED,
/// after the last, lets other threads see it. Plain stores where the instruction set has no others.
std::string_view stream_declarations();
/// Search in the tables of hashed levels: schaas_hash of proto/kernel_abi.h.
std::string_view find_declarations();

}  // namespace schaas::codegen
