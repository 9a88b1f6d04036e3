#pragma once
#include <cstdint>
#include <vector>

namespace schaas::client {

/// The entries of a compressed level and of the singleton levels below that tell its coordinates apart.
/// `Position`: int32_t or int64_t.
template <class Position>
struct EntryLists {
  const Position* pos = nullptr;  ///< parents + 1 elements, ascending from 0 to `entries`
  std::int64_t parents = 0;
  std::int64_t entries = 0;
  std::vector<const Position*> crd;   ///< by level, the compressed one first
  std::vector<std::int64_t> extents;  ///< by level
};

/// True when positions never descend from the first one, 0. Reads elements 0 to `parents`.
template <class Position>
bool ascend(const Position* pos, std::int64_t parents, int threads);
/// True when every coordinate lies inside its extent.
template <class Position>
bool inside_extents(const EntryLists<Position>& lists, int threads);
/// True when every coordinate lies inside its extent, and each entry but the first of a parent follows the
/// one before it in lexicographic order.
template <class Position>
bool in_order(const EntryLists<Position>& lists, int threads);
/// Entries that differ from the one before them or are the first of a parent.
template <class Position>
std::int64_t distinct(const EntryLists<Position>& lists);

}  // namespace schaas::client
