#pragma once
#include <cstdint>

#include "schaas/tensor.h"

/// The monoids of phases that fold: SCHAAS_FOLD_* of proto/kernel_abi.h.
namespace schaas::client {

double identity_of(std::int32_t monoid);
/// into[e] = monoid(into[e], from[e]) for e in [begin, end).
void fold_values(std::int32_t monoid, ValueType type, void* into, const void* from, std::int64_t begin,
                 std::int64_t end);

}  // namespace schaas::client
