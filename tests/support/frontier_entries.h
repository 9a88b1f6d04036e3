#pragma once
#include <string>
#include <utility>
#include <vector>

#include "schaas/select.h"

/// Frontier entries by hand, and what they cost, for tests of selection. B is the only tensor with fibers.
namespace schaas::client {

inline Variable extent(std::string index) { return {Variable::Kind::extent, std::move(index), "", 0}; }
/// `index`: that of the level, which the loop over the fiber needs.
inline Variable fiber_of(std::string tensor, int level, std::string index = "") {
  return {Variable::Kind::fiber, std::move(index), std::move(tensor), level};
}

/// Memory of a temporary: of a thread, or shared.
inline Term temporary(std::vector<Variable> product, Scope scope = Scope::thread) {
  return {1, std::move(product), false, scope};
}

inline FrontierEntry entry(std::string id, std::string tree, std::vector<Term> time,
                           std::vector<Term> memory) {
  FrontierEntry e;
  e.id = std::move(id);
  e.tree = std::move(tree);
  e.time_terms = std::move(time);
  e.memory_terms = std::move(memory);
  return e;
}

inline Nest::Loop loop(const std::string& index) { return {extent(index), index, 0, false, 0}; }
inline Nest::Loop part(const std::string& index, int block, bool inside) {
  return {extent(index), index, block, inside, 0};
}
inline Nest::Loop entries(const std::string& index, std::uint32_t under) {
  return {fiber_of("B", 1, index), index, 0, false, under};
}

/// Returns the nest with code that keeps the target's row in registers for so many loops right above it.
inline Nest with_kept(Nest nest, int loops) {
  nest.code.kept = loops;
  return nest;
}
/// Returns the nest with code that unrolls and jams a loop: six iterations side by side.
inline Nest with_tile(Nest nest, int loop) {
  nest.code.tile_loop = loop;
  nest.code.tile = 6;
  return nest;
}
inline Nest with_streaming(Nest nest) {
  nest.code.streams = true;
  return nest;
}

inline Machine small_caches() {
  Machine machine{1, 64 << 20, ValueType::f64};
  machine.first_cache_bytes = 48 << 10;
  machine.second_cache_bytes = 2 << 20;
  return machine;
}

}  // namespace schaas::client
