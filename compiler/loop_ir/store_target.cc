#include "compiler/loop_ir/store_target.h"

namespace schaas::loop_ir {

std::optional<StoreTarget> store_target(const StatementPtr& statement) {
  if (const auto* store = as<Store>(statement))
    return StoreTarget{store->array, store->index, store->mode, store->monoid, 0, store->wide};
  if (const auto* store = as<GroupStore>(statement))
    return StoreTarget{store->array, store->index, store->mode, store->monoid, store->width, store->wide};
  return std::nullopt;
}

bool write_alike(const StoreTarget& one, const StoreTarget& other) {
  return one.array == other.array && one.mode == other.mode && one.monoid == other.monoid &&
         one.width == other.width;
}

}  // namespace schaas::loop_ir
