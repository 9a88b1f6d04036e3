#pragma once
#include <string_view>

namespace schaas::codegen {

/// Pieces of a CUDA source; each needs those above it, and the type `value`.

/// The declarations of proto/gpu_abi.h as they are printed into every kernel; a test keeps the two in step.
std::string_view gpu_abi_declarations();
/// Of the device: searches, division of what is mostly small.
std::string_view device_declarations();
/// The monoids, each with its fold and its atomic step: monoid_sum, monoid_max, ...
std::string_view monoid_declarations();
/// atomic_group<monoid, width>(array, index, value), store_group, fold_group: the threads of a group fold by
/// shuffles and the first of them writes. pending<monoid>: what a thread has not written yet; settle<width>()
/// is the segment reduction of a group (Sgap, section 5.3: atomicAddGroup and segReduceGroup).
std::string_view group_declarations();

}  // namespace schaas::codegen
