#pragma once
#include "compiler/lower/analysis/nest.h"

/// Initialisation of temporaries passed inside a phase. Each use must start from the start values, at a cost
/// within that of producer and consumer.
namespace schaas::lower {

enum class Reset {
  overwrite,  ///< the producer writes every element exactly once: it stores instead of adding
  before,  ///< the whole temporary is cleared before the producer; producer or consumer walk all of it anyway
  after,   ///< few elements are touched: walks the producer's loops again after the consumer to clear them;
           ///< scratch starts zeroed, so the temporary is zero whenever a producer starts
};

/// `branch` passes a temporary with at least one index.
Reset reset_of(const Branch& branch, const NestTree& tree);

/// `producer` stores each element of its target exactly once: dense loops over all of the target's indices,
/// reductions below them.
bool writes_each_once(const NestPtr& producer, const NestTree& tree);

/// `producer` may store instead of adding: each element that is read is written exactly once.
bool may_overwrite(const NestPtr& producer, const NestTree& tree);

/// `nest` stores no element of its target twice: loops over all of the target's indices, each coordinate
/// visited once, reductions below them. It may store instead of adding.
bool writes_none_twice(const NestPtr& nest, const NestTree& tree);

/// The same for the elements of each entry that it makes: of the dense levels below the last sparse one.
bool writes_entries_once(const NestPtr& nest, const NestTree& tree);

/// The same for each row that the loop visits: for all elements with its coordinate.
bool writes_rows_once(const Loop& rows, int target, const NestTree& tree);
/// The same for `inside`, a part of the loop's body.
bool writes_rows_once(const Loop& rows, int target, const NestTree& tree, const NestPtr& inside);

/// Some operand below skips coordinates of the loop's index.
bool is_sparse(const Loop& loop, const NestTree& tree);

}  // namespace schaas::lower
