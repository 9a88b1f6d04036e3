#pragma once
#include <string_view>

namespace schaas::codegen {

/// Parts of the CUDA prologue; each needs those above it, and the type `value`.

/// Returns the declarations of proto/gpu_abi.h as printed into every kernel; a test compares the two.
std::string_view gpu_abi_declarations();
/// Device functions: searches, and division of mostly small numbers.
std::string_view device_declarations();
/// Monoids, each with its fold and its atomic step: monoid_sum, monoid_max, ...
std::string_view monoid_declarations();
/// atomic_group<monoid, width>(array, index, value), store_group, fold_group: a group of threads folds by
/// shuffles and its first thread writes. deferred_update<monoid>: a deferred atomic update; flush<width>() is
/// the segment reduction of a group (Sgap, section 5.3: atomicAddGroup and segReduceGroup).
std::string_view group_declarations();

}  // namespace schaas::codegen
