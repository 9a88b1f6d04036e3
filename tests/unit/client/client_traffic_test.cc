// What nests of a schedule take from beyond each cache, and what of it shows in a prediction.
#include <gtest/gtest.h>

#include "schaas/select.h"
#include "tests/support/frontier_entries.h"

namespace schaas::client {
namespace {

using Way = double Rates::*;

FrontierEntry one_variant(std::vector<Nest> nests) {
  FrontierEntry e = entry("s1", "ijk", {{1, {extent("k")}}}, {});
  e.variants = {{"", "ijk", std::move(nests)}};
  return e;
}

double predicted(const std::vector<Nest>& nests, const Sizes& sizes, const Machine& machine) {
  return select({one_variant(nests)}, sizes, machine)->evaluated[0].predicted;
}

// Values that come from beyond a cache, those in order from memory half: so slowly that nothing hides.
double values_beyond(Way way, const std::vector<Nest>& nests, const Sizes& sizes,
                     Machine machine = small_caches()) {
  constexpr double slow = 1e9;
  machine.rates = {0.1, 0, 0, 0, 0, machine.rates.memory_threads};
  const double at_once = predicted(nests, sizes, machine);
  machine.rates.*way = slow;
  return (predicted(nests, sizes, machine) - at_once) / slow;
}

TEST(Traffic, rows_side_by_side_share_what_they_all_load) {
  // A(i,l) = T(i,k) * D(k,l), D too large for the first cache: six rows of A read each row of D once, unless
  // something else is done for each row.
  const Nest alone = with_kept({{loop("i"), loop("k"), loop("l")},
                                {{"A", false, 5, 4}, {"T", false, 3, 2}, {"D", false, 6, 4}},
                                0,
                                false,
                                1},
                               1);
  const Nest product = with_tile(alone, 0);
  const auto from_second = [](const std::vector<Nest>& nests, std::int64_t rows) {
    return values_beyond(&Rates::beyond_first, nests, {{{"i", rows}, {"k", 128}, {"l", 128}}, {}});
  };
  const double of_d = 1000.0 * 128 * 128;
  EXPECT_NEAR(from_second({product}, 996), 996.0 / 1000 * of_d / 6, of_d / 40);
  EXPECT_NEAR(from_second({product}, 2), 2.0 * 128 * 128, 2.0 * 128 * 128 / 20);  // fewer come one by one
  EXPECT_NEAR(from_second({alone}, 1000), of_d, of_d / 10);
  Nest after = alone, before{{loop("i"), loop("k")}, {{"T", false, 3, 2}}, 0, false, 1};
  after.shared = 1;
  EXPECT_NEAR(from_second({before, after}, 1000), of_d, of_d / 10);
}

TEST(Traffic, blocks_of_a_fiber_gather_what_the_fiber_gathers) {
  // A(i,l) += t * E(j,l), entry by entry and in blocks of 8 of 20 entries a row, E larger than the caches.
  const Nest entry_by_entry{{loop("i"), entries("j", 1), loop("l")},
                            {{"A", false, 5, 4}, {"B", true, 3, 2}, {"E", false, 6, 4}},
                            0,
                            false,
                            1};
  const auto of_entries = [](bool inside) { return Nest::Loop{fiber_of("B", 1, "j"), "j", 8, inside, 1}; };
  const Nest in_blocks{{loop("i"), of_entries(false), of_entries(true), loop("l")},
                       {{"A", false, 9, 8}, {"B", true, 7, 4}, {"E", false, 14, 8}},
                       0,
                       false,
                       1};
  const Sizes here{{{"i", 50'000}, {"j", 500'000}, {"k", 1}, {"l", 32}}, {{"B", {50'000, 1'000'000}}}};
  for (const Way way : {&Rates::beyond_first, &Rates::beyond_second, &Rates::beyond_last}) {
    const double expected = values_beyond(way, {entry_by_entry}, here);
    EXPECT_GT(expected, 1e6);
    EXPECT_NEAR(values_beyond(way, {in_blocks}, here), expected, expected / 100);
  }
}

TEST(Traffic, a_row_of_a_size_with_code_of_its_own_stays_in_registers) {
  // For each entry a factor, then A(i,l) += factor * E(j,l): runs of the innermost loop cost nothing at 8, 16
  // and 32.
  const Nest factor{{loop("i"), entries("j", 1)}, {{"t", false, 3, 2}}, 0, false, 8};
  Nest add{{loop("i"), entries("j", 1), loop("l")}, {{"A", false, 5, 4}, {"E", false, 6, 4}}, 2, false, 1};
  add.code.lengths = {8, 16, 32, 64};
  const auto at = [&](std::int64_t columns) {
    Machine machine = small_caches();
    machine.rates = {0, 0, 0, 0, 0, 1};
    return predicted({factor, add}, {{{"i", 10}, {"j", 10}, {"k", 1}, {"l", columns}}, {{"B", {10, 100}}}},
                     machine);
  };
  const double hidden = 0.25;  // of the wait for the sum before, by each element of the row
  for (const std::int64_t columns : {8, 16, 32}) {
    const auto of_row = static_cast<double>(columns);
    EXPECT_NEAR(at(columns + 1) - at(columns), 100 * (6 + 0.5 * (of_row + 1) - hidden), 1e-6);
    EXPECT_NEAR(at(8) - at(columns), 100 * hidden * (of_row - 8), 1e-6);
  }
  EXPECT_NEAR(at(65) - at(64), 100 * 0.5, 1e-6);  // more than registers hold
}

/// Costs of a nest over rows and these loops beside its trips, of 100 entries, ten a row.
double elements_alone(const Nest::Loop& inner, std::uint32_t target, std::int64_t columns) {
  Machine machine = small_caches();
  machine.rates = {0, 0, 0, 0, 0, 1};
  const Nest nest{{loop("i"), inner}, {{"t", false, target, target}}, 0, false, 6};
  return predicted({nest}, {{{"i", 10}, {"j", columns}, {"k", 10}}, {{"B", {10, 100}}}}, machine);
}
constexpr std::uint32_t by_rows = 1, by_columns = 2;

TEST(Traffic, the_end_of_a_fiber_costs_more_than_that_of_a_dense_loop) {
  EXPECT_NEAR(elements_alone(entries("j", 1), by_rows, 10) - elements_alone(loop("k"), by_rows, 10),
              10 * (30 - 6), 1e-6);
}

TEST(Traffic, entries_added_to_a_short_vector_wait_for_each_other) {
  const auto waiting = [](std::int64_t columns) {
    return elements_alone(entries("j", 1), by_columns, columns) -
           elements_alone(entries("j", 1), by_rows, columns);
  };
  EXPECT_NEAR(waiting(10), 100 * 20, 1e-6);
  EXPECT_NEAR(waiting(256), 100 * 20, 1e-6);
  EXPECT_NEAR(waiting(320), 100 * 16, 1e-6);
  EXPECT_NEAR(waiting(1'000'000), 100 * 10, 1e-6);
}

TEST(Traffic, entries_added_to_a_table_wait_for_their_slots) {
  const auto predicted_with = [](bool table, ValueType type = ValueType::f64) {
    Machine machine = small_caches();
    machine.value_type = type;
    machine.rates = {0, 0, 0, 0, 0, 1};
    const Nest nest{{loop("i"), entries("j", 1)}, {{"t", false, 0, 0, {}, table}}, 0, false, 6};
    return predicted({nest}, {{{"i", 10}, {"j", 10}, {"k", 10}}, {{"B", {10, 100}}}}, machine);
  };
  EXPECT_NEAR(predicted_with(true) - predicted_with(false), 100 * 20, 1e-6);
  EXPECT_NEAR(predicted_with(true, ValueType::i8) - predicted_with(false, ValueType::i8), 100 * 160, 1e-6)
      << "the unit is a trip of row code, which is an eighth of the time";
}

TEST(Traffic, fibers_of_other_operands_change_with_the_rows_that_lead_to_them) {
  // t(k) += B(i,j) * C(j,k): the loop over j is not the only one that leads to other entries of C.
  const auto beyond = [](std::uint32_t under) {
    const Nest nest{{loop("i"), entries("j", 1), {fiber_of("C", 1, "k"), "k", 0, false, under}},
                    {{"t", false, 4, 4}, {"B", true, 3, 2}, {"C", true, 6, 4}},
                    0,
                    false,
                    6};
    const Sizes here{{{"i", 20'000}, {"j", 20'000}, {"k", 5'000'000}},
                     {{"B", {20'000, 200'000}}, {"C", {20'000, 200'000}}}};
    return values_beyond(&Rates::beyond_second, {nest}, here);
  };
  EXPECT_GT(beyond(2), 1e6);
  EXPECT_EQ(beyond(2), beyond(3));
}

TEST(Traffic, elements_one_by_one_take_as_long_in_every_type) {
  // In trips of row code, of which twice as many take the same time where values have half of the bytes.
  const auto predicted_in = [](ValueType type, double weight) {
    FrontierEntry e = entry("s1", "ik", {{weight, {extent("i"), extent("k")}}}, {});
    e.variants = {{"", "ik", {{{loop("i"), loop("k")}, {{"t", false, by_rows, by_rows}}, 0, false, weight}}}};
    Machine machine = small_caches();
    machine.value_type = type;
    const Sizes sizes{{{"i", 10}, {"j", 1}, {"k", 1'000'000}}, {}};
    return select({e}, sizes, machine)->evaluated[0].predicted;
  };
  EXPECT_NEAR(predicted_in(ValueType::f32, 6) / predicted_in(ValueType::f64, 6), 2, 0.01);
  EXPECT_NEAR(predicted_in(ValueType::f32, 1) / predicted_in(ValueType::f64, 1), 1, 0.01);
}

TEST(Traffic, a_short_row_takes_some_cycles_whatever_its_length) {
  // A(i,l) += B(i,j) * E(j,l), and t(i,j) = C(i,l) * D(j,l): 100 entries, 10 rows.
  const Nest row = with_kept(
      {{loop("i"), entries("j", 1), loop("l")}, {{"A", false, 5, 4}, {"E", false, 6, 4}}, 0, false, 1}, 1);
  const Nest sum{{loop("i"), entries("j", 1), loop("l")},
                 {{"t", false, 3, 2}, {"C", false, 5, 4}, {"D", false, 6, 4}},
                 0,
                 false,
                 1};
  const Nest anew{
      {loop("i"), entries("j", 1), loop("l")}, {{"T", false, 7, 4}, {"D", false, 6, 4}}, 0, false, 1};
  const auto at = [&](Nest nest, int tile, std::int64_t columns) {
    if (tile > 0) nest.code.tile = tile, nest.code.tile_loop = 1;
    Machine machine = small_caches();
    machine.rates = {0, 0, 0, 0, 0, 1};
    return predicted({nest}, {{{"i", 10}, {"j", 10}, {"k", 1}, {"l", columns}}, {{"B", {10, 100}}}}, machine);
  };
  // 100 executions, 14 less a quarter for each element; half of that in tiles of entries.
  const double fibers = 10 * 30, rows = 10 * 4, executions = 100 * 6;
  EXPECT_NEAR(at(row, 0, 4), rows + fibers + 100 * 13, 1e-6);
  EXPECT_NEAR(at(row, 4, 4), rows + fibers + 100 * 6.5, 1e-6);
  EXPECT_NEAR(at(sum, 0, 4), executions + 100 * 13, 1e-6);
  EXPECT_NEAR(at(sum, 4, 4), executions + 100 * 6.5, 1e-6);
  EXPECT_NEAR(at(sum, 0, 56), executions, 1e-6);
  EXPECT_NEAR(at(anew, 0, 4), executions + 100 * (13 + 0.5 * 4), 1e-6);
  EXPECT_NEAR(at(sum, 16, 4), at(sum, 0, 4), 1e-6);  // ten entries a row are no tile of sixteen
}

TEST(Traffic, a_tile_walks_a_fiber_once_and_what_tiles_leave_does_so_one_by_one) {
  // A(i,l,m) += B(i,j) * D(j,m) with six values of l side by side: ten fibers.
  Nest nest = with_kept({{loop("i"), loop("l"), entries("j", 1), loop("m")},
                         {{"A", false, 11, 8}, {"D", false, 12, 8}},
                         0,
                         false,
                         1},
                        1);
  nest.code.tile = 6, nest.code.tile_loop = 1;
  const auto at = [&](std::int64_t columns) {
    Machine machine = small_caches();
    machine.rates = {0, 0, 0, 0, 0, 1};
    return predicted(
        {nest}, {{{"i", 10}, {"j", 10}, {"k", 1}, {"l", columns}, {"m", 56}}, {{"B", {10, 100}}}}, machine);
  };
  const auto rows = [](double columns) { return 10 * columns * 56; };
  for (const auto& [columns, fibers] : {std::pair{3, 3}, {6, 1}, {7, 2}, {12, 2}, {14, 4}})
    EXPECT_NEAR(at(columns), rows(columns) + 10 * 30 * fibers, 1e-6) << columns;
}

TEST(Traffic, a_large_result_that_is_stored_whole_goes_past_the_caches) {
  // A(i,k) = B(i,j) * C(j,k), ten entries a row: the row is kept, or added to for each entry.
  const auto written = [&](bool kept, std::int64_t rows) {
    const Nest::Access c{"C", false, 6, 4};
    Nest nest{
        {loop("i"), entries("j", 1), loop("k")}, {{"A", false, 5, 4}, {"B", true, 3, 2}, c}, 0, false, 1};
    Nest before{{loop("i"), entries("j", 1)}, {{"t", false, 3, 2}}, 0, false, 1};
    if (kept)
      nest = with_streaming(with_kept(nest, 1));
    else
      nest.shared = 2;
    const Sizes here{{{"i", rows}, {"j", 10}, {"k", 64}}, {{"B", {rows, 10 * rows}}}};
    return values_beyond(&Rates::beyond_second,
                         kept ? std::vector<Nest>{nest} : std::vector<Nest>{before, nest}, here);
  };
  const auto of_a = [](std::int64_t rows) { return static_cast<double>(rows) * 64; };
  const double of_b = 15;  // bytes of entries, in values
  EXPECT_NEAR(written(true, 20'000), 2 * of_a(20'000) + 20'000 * of_b, 20'000);  // 10 MB
  EXPECT_NEAR(written(true, 40'000), of_a(40'000) + 40'000 * of_b, 40'000);      // 20 MB
  EXPECT_GT(written(false, 40'000), 2 * of_a(40'000));
}

TEST(Traffic, threads_share_the_way_to_memory_as_far_as_it_was_measured) {
  const std::vector<Nest> copy{
      with_streaming({{loop("i"), loop("k")}, {{"A", false, 3, 2}, {"B", false, 3, 2}}, 0, false, 1})};
  const Sizes large{{{"i", 1'000'000}, {"k", 64}}, {}};
  const auto from_memory = [&](int threads, double memory_threads) {
    Machine machine = small_caches();
    machine.threads = threads;
    machine.rates.memory_threads = memory_threads;
    return values_beyond(&Rates::beyond_last, copy, large, machine);
  };
  const double alone = from_memory(1, 1);
  EXPECT_NEAR(alone, 64e6, 1);  // the result goes past the caches
  EXPECT_NEAR(from_memory(1, 3), alone, 1);
  EXPECT_NEAR(from_memory(2, 1), alone, 1);
  EXPECT_NEAR(from_memory(2, 3), alone / 2, 1);
  EXPECT_NEAR(from_memory(8, 3), alone / 3, 1);
}

// C(j,k), which each i gathers by entries, and C(i,j,k), as many rows, in order.
Nest by_entries(std::uint32_t of_c) {
  return with_kept(
      {{loop("i"), entries("j", 1), loop("k")}, {{"A", false, 4, 4}, {"C", false, of_c, 4}}, 0, false, 2}, 1);
}
constexpr std::uint32_t gathered = 6, in_order = 7;
const Sizes two_long_rows{{{"i", 2}, {"j", 1'000'000'000}, {"k", 64}}, {{"B", {2, 2'000'000}}}};

TEST(Traffic, what_comes_from_memory_in_order_costs_half) {
  const auto of = [&](std::uint32_t c) {
    return values_beyond(&Rates::beyond_last, {by_entries(c)}, two_long_rows);
  };
  EXPECT_NEAR(of(gathered) / of(in_order), 2, 0.01);
}

TEST(Traffic, what_comes_in_order_hides_behind_computing) {
  const auto added = [](std::uint32_t c, double beyond_last) {  // to the prediction, by memory
    Machine machine = small_caches();
    machine.rates = {0.1, 0.5, 0, 0, 0, 1};
    const double computing = predicted({by_entries(c)}, two_long_rows, machine);
    machine.rates.beyond_last = beyond_last;
    return predicted({by_entries(c)}, two_long_rows, machine) - computing;
  };
  const double elements = 2'000'000.0 * 64;
  EXPECT_EQ(added(in_order, 0.5), 0);
  EXPECT_NEAR(added(gathered, 0.5), 0.5 * elements, 0.01 * elements);
  const double much = added(in_order, 100), more = added(in_order, 200);
  EXPECT_NEAR(more - much, 50 * elements, 0.5 * elements);
  EXPECT_NEAR(much, 49.5 * elements, 0.05 * elements);  // a trip for each, half of which loads it
}

TEST(Traffic, a_temporary_stays_from_the_nest_that_writes_it_to_the_one_that_gathers_it) {
  // t(j,k) = C(j,k) * D(k), A(i,k) = B(i,j) * t(j,k): A goes past the caches, so t leaves the last one only
  // where it and C do not fit.
  const std::vector<Nest> nests{
      {{loop("j"), loop("k")}, {{"t", false, 3, 2}, {"C", false, 3, 2}}, 0, false, 1},
      with_streaming(with_kept({{loop("i"), entries("j", 1), loop("k")},
                                {{"A", false, 5, 4}, {"t", false, 6, 4}, {"B", true, 3, 2}},
                                0,
                                false,
                                1},
                               1))};
  const auto from_memory = [&](std::int64_t rows) {
    const std::int64_t many = 200'000;
    Machine machine = small_caches();
    machine.cache_bytes = 32 << 20;
    const Sizes here{{{"i", many}, {"j", rows}, {"k", 64}}, {{"B", {many, 10 * many}}}};
    const double in_order_of_a = many * 64 * 0.5, of_b = many * 10 * 1.5 * 0.5, of_c = rows * 64 * 0.5;
    return values_beyond(&Rates::beyond_last, nests, here, machine) - in_order_of_a - of_b - of_c;
  };
  EXPECT_NEAR(from_memory(10'000), 0, 1e6);  // 5 MB each
  EXPECT_GT(from_memory(100'000), 60e6);     // 51 MB each, and 128,000,000 values gathered
}

TEST(Traffic, elements_below_the_last_coordinates_have_none) {
  // Alone in memory: the entries of B with their coordinates, or rows of 64 values below each.
  const auto of_b = [](std::uint32_t loops) {
    const Nest nest = with_kept({{loop("i"), entries("j", 1), loop("k")},
                                 {{"A", false, 4, 4}, {"B", true, loops, loops == 3 ? 2U : 4U}},
                                 0,
                                 false,
                                 1},
                                1);
    const Sizes here{{{"i", 1'000'000}, {"j", 1'000'000}, {"k", 64}}, {{"B", {1'000'000, 10'000'000}}}};
    return values_beyond(&Rates::beyond_second, {nest}, here);
  };
  EXPECT_NEAR(of_b(3), 10e6 * 12 / 8, 1e5);
  EXPECT_NEAR(of_b(7), 10e6 * 64, 1e6);
}

TEST(Traffic, rows_without_entries_are_not_run_for) {
  // A(i,l) = B(i,j) * C(j,k) * D(k,l), a row of the product of B and C at a time: a row without entries is
  // cleared.
  const Nest rows = with_kept({{loop("i"), entries("j", 1), loop("k")},
                               {{"t", false, 4, 4}, {"B", true, 3, 2}, {"C", false, 6, 4}},
                               0,
                               false,
                               1},
                              1);
  Nest result = with_kept({{loop("i"), loop("k"), loop("l")},
                           {{"A", false, 5, 4}, {"t", false, 2, 2}, {"D", false, 6, 4}},
                           1,
                           false,
                           1},
                          1);
  // Rows of 64 do not wait for their sums.
  Sizes here{{{"i", 1000}, {"j", 1000}, {"k", 16}, {"l", 64}}, {{"B", {1000, 500}}}};
  Machine machine = small_caches();
  machine.rates = {0.1, 0.5, 0, 0, 0, 1};
  const auto saved = [&](const std::vector<Nest>& nests) {
    here.occupied.clear();
    const double all = predicted(nests, here, machine);
    here.occupied["B"] = {0.25, 1};
    return all - predicted(nests, here, machine);
  };
  const double products = 0.75 * 0.5 * 1000 * 16 * 64;
  EXPECT_GE(saved({rows, result}), products);
  EXPECT_LE(saved({rows, result}), 1.2 * products);  // it comes by its rows less often, too
  EXPECT_EQ(saved({rows}), 0);                       // it is run by entries
  Nest columns = result;
  columns.accesses[0].loops = 6;
  EXPECT_EQ(saved({rows, columns}), 0);  // each row is a part of every element
  result.shared = 0;
  EXPECT_EQ(saved({rows, result}), 0);  // beside it, no row is without entries
}

TEST(Traffic, rows_that_no_entry_reads_are_not_formed) {
  // A(i,l) = B(i,j) * C(j,k) * D(k,l), the product of C and D first.
  Nest made = with_tile(with_kept({{loop("j"), loop("k"), loop("l")},
                                   {{"t", false, 5, 4}, {"C", false, 3, 2}, {"D", false, 6, 4}},
                                   0,
                                   false,
                                   1},
                                  1),
                        0);
  Nest result = with_kept({{loop("i"), entries("j", 1), loop("l")},
                           {{"A", false, 5, 4}, {"B", true, 3, 2}, {"t", false, 6, 4}},
                           0,
                           false,
                           1},
                          1);
  Sizes here{{{"i", 1000}, {"j", 1000}, {"k", 16}, {"l", 32}}, {{"B", {1000, 5000}}}};
  Machine machine = small_caches();
  machine.rates = {0.1, 0.5, 0, 0, 0, 1};
  const auto saved = [&](const std::vector<Nest>& nests) {
    here.occupied.clear();
    const double all = predicted(nests, here, machine);
    here.occupied["B"] = {1, 0.25};
    return all - predicted(nests, here, machine);
  };
  const double products = 0.75 * 0.5 * 1000 * 16 * 32;
  EXPECT_GE(saved({made, result}), products);
  EXPECT_LE(saved({made, result}), 1.2 * products);
  Nest by_all = result;  // j is no longer that of entries
  by_all.loops[1] = loop("j");
  EXPECT_EQ(saved({made, by_all}), 0);
  EXPECT_EQ(saved({made, result, by_all}), 0);  // another one reads all rows
  EXPECT_EQ(saved({result}), 0);
  made.loops[0] = loop("l"), made.loops[2] = loop("j");
  made.accesses = {{"t", false, 5, 1}, {"C", false, 6, 2}, {"D", false, 3, 1}};
  EXPECT_EQ(saved({made, result}), 0);  // column by column
}

}  // namespace
}  // namespace schaas::client
