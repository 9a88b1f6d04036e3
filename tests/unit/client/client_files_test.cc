// Reading what others write and what we wrote: every kind, every tolerated liberty, round trips.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "schaas/tensor_files.h"
#include "tests/support/gzip.h"
#include "tests/support/temporary_directory.h"

namespace schaas::client {
namespace {

namespace fs = std::filesystem;
using test_support::gzip;
using Doubles = std::vector<double>;
using Longs = std::vector<std::int64_t>;

Doubles values_of(const DenseTensor& tensor) {
  Doubles values;
  for (std::int64_t e = 0; e < tensor.size(); ++e) values.push_back(tensor.at(e));
  return values;
}

class Files : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  TensorData data(const std::string& name, const std::string& content, Longs extents = {}) {
    std::ofstream(path(name), std::ios::binary) << content;
    return again(name, std::move(extents));
  }
  TensorData again(const std::string& name, Longs extents = {}) {
    ReadOptions options;
    options.extents = std::move(extents);
    auto result = read(path(name), options);
    EXPECT_TRUE(result.ok()) << support::render(result.error());
    return std::move(*result);
  }
  CooTensor coo(const std::string& name, const std::string& content, Longs extents = {}) {
    return std::get<CooTensor>(data(name, content, std::move(extents)));
  }
  DenseTensor dense(const std::string& name, const std::string& content, Longs extents = {}) {
    return std::get<DenseTensor>(data(name, content, std::move(extents)));
  }
  test_support::TemporaryDirectory directory_;
  const fs::path folder_ = directory_.path();
};

// ---- Matrix Market

TEST_F(Files, mtx_with_comments_blanks_tabs_and_crlf) {
  const CooTensor t = coo("a.mtx",
                          "%%MatrixMarket MATRIX Coordinate Real General\r\n% a comment\r\n\r\n 3\t4  3\r\n"
                          "  1   1\t1.5\r\n%\r\n3 4 -2e-3  \r\n\r\n2 2 +7");
  EXPECT_EQ(t.extents, (Longs{3, 4}));
  EXPECT_EQ(t.coordinates[0], (Longs{0, 2, 1}));
  EXPECT_EQ(t.coordinates[1], (Longs{0, 3, 1}));
  EXPECT_EQ(t.values, (Doubles{1.5, -2e-3, 7}));
}

TEST_F(Files, mtx_pattern_is_ones) {
  const CooTensor t = coo("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n");
  EXPECT_EQ(t.values, (Doubles{1, 1}));
}

TEST_F(Files, mtx_symmetric_comes_back_whole) {
  const CooTensor t =
      coo("a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 6\n");
  EXPECT_EQ(t.coordinates[0], (Longs{1, 0, 2}));
  EXPECT_EQ(t.coordinates[1], (Longs{0, 1, 2}));
  EXPECT_EQ(t.values, (Doubles{5, 5, 6}));
}

TEST_F(Files, mtx_symmetric_may_store_the_upper_triangle) {
  const CooTensor t = coo("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 3 5\n");
  EXPECT_EQ(t.coordinates[0], (Longs{0, 2}));
  EXPECT_EQ(t.coordinates[1], (Longs{2, 0}));
}

TEST_F(Files, mtx_skew_symmetric_changes_sign) {
  const CooTensor t = coo("a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n");
  EXPECT_EQ(t.values, (Doubles{5, -5}));
}

TEST_F(Files, mtx_array_is_in_column_order) {
  const DenseTensor t = dense("a.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(t.extents, (Longs{2, 3}));
  EXPECT_EQ(values_of(t), (Doubles{1, 3, 5, 2, 4, 6}));
}

TEST_F(Files, mtx_symmetric_arrays_hold_the_lower_triangle) {
  EXPECT_EQ(values_of(dense("a.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n")),
            (Doubles{1, 2, 2, 3}));
  EXPECT_EQ(values_of(dense("b.mtx", "%%MatrixMarket matrix array real skew-symmetric\n2 2\n2\n")),
            (Doubles{0, -2, 2, 0}));
  EXPECT_EQ(values_of(dense("c.mtx", "%%MatrixMarket matrix array integer symmetric\n3 3\n1 2 3\n4 5\n6\n")),
            (Doubles{1, 2, 3, 2, 4, 5, 3, 5, 6}));
}

TEST_F(Files, mtx_of_one_column_is_a_vector_when_one_is_wanted) {
  const std::string text = "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n";
  EXPECT_EQ(dense("a.mtx", text).extents, (Longs{3, 1}));
  EXPECT_EQ(dense("a.mtx", text, {3}).extents, (Longs{3}));
  const CooTensor t = coo("b.mtx", "%%MatrixMarket matrix coordinate real general\n1 9 1\n1 4 2\n", {-1});
  EXPECT_EQ(t.extents, (Longs{9}));
  EXPECT_EQ(t.coordinates, (std::vector<Longs>{{3}}));
}

TEST_F(Files, numbers_in_every_dress) {
  const CooTensor t = coo("a.tns", "1 1.\n2 .5\n3 1D+2\n4 -1e-400\n5 nan\n6 -inf\n7 5e-324\n");
  EXPECT_EQ(t.values[0], 1);
  EXPECT_EQ(t.values[1], 0.5);
  EXPECT_EQ(t.values[2], 100);
  EXPECT_EQ(t.values[3], 0);
  EXPECT_TRUE(std::isnan(t.values[4]));
  EXPECT_TRUE(std::isinf(t.values[5]) && t.values[5] < 0);
  EXPECT_EQ(t.values[6], 5e-324);
}

// ---- FROSTT

TEST_F(Files, tns_extents_are_the_largest_coordinates) {
  const CooTensor t = coo("a.tns", "# comment\n1 5 2 1.5\n\n3 1 2 -1\n");
  EXPECT_EQ(t.extents, (Longs{3, 5, 2}));
  EXPECT_EQ(t.coordinates[1], (Longs{4, 0}));
  EXPECT_EQ(t.values, (Doubles{1.5, -1}));
}

TEST_F(Files, tns_extents_may_be_given) {
  EXPECT_EQ(coo("a.tns", "1 5 1\n", {10, -1}).extents, (Longs{10, 5}));
  const CooTensor none = coo("b.tns", "# nothing\n", {10, 20});
  EXPECT_EQ(none.extents, (Longs{10, 20}));
  EXPECT_EQ(none.entries(), 0U);
}

// ---- compression

TEST_F(Files, gzip_is_told_from_the_content) {
  const std::string text = "1 2 3.5\n";
  EXPECT_EQ(coo("a.tns", gzip(text)).values, (Doubles{3.5}));
  EXPECT_EQ(coo("b.tns.gz", text).values, (Doubles{3.5}));
}

TEST_F(Files, gzip_of_several_members) {
  EXPECT_EQ(coo("a.tns.gz", gzip("1 1 1\n2 ") + gzip("2 2\n") + gzip("") + gzip("3 3 3")).values,
            (Doubles{1, 2, 3}));
}

TEST_F(Files, lines_across_buffers_are_whole) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n100000 100000 300000\n";
  std::mt19937_64 random(5);
  double sum = 0;
  for (int e = 0; e < 300000; ++e) {
    const auto value = static_cast<double>(random() % 100000) / 16;
    sum += value;
    text += std::to_string(1 + random() % 100000) + " " + std::to_string(1 + random() % 100000) + " " +
            std::to_string(value) + "\n";
  }
  ASSERT_GT(text.size(), std::size_t{4} << 20);
  std::uint64_t last = 0, total = 0;
  for (const bool zipped : {false, true}) {
    std::ofstream(path("a.mtx"), std::ios::binary) << (zipped ? gzip(text) : text);
    ReadOptions options;
    options.progress = [&](std::uint64_t done, std::uint64_t of) { last = done, total = of; };
    const auto data = read(path("a.mtx"), options);
    ASSERT_TRUE(data.ok());
    EXPECT_EQ(last, total);
    EXPECT_EQ(total, fs::file_size(path("a.mtx")));
    const auto& t = std::get<CooTensor>(*data);
    ASSERT_EQ(t.entries(), 300000U);
    double found = 0;
    for (const double value : t.values) found += value;
    EXPECT_NEAR(found, sum, 1e-6 * sum);
  }
}

// ---- NumPy

std::string npy(int version, const std::string& dictionary, const void* data, std::size_t bytes) {
  std::string text("\x93NUMPY", 6);
  text += static_cast<char>(version);
  text += '\0';
  for (int b = 0; b < (version == 1 ? 2 : 4); ++b)
    text += static_cast<char>((dictionary.size() >> (8 * b)) & 0xff);
  return text + dictionary + std::string(static_cast<const char*>(data), bytes);
}

TEST_F(Files, npy_of_every_type_and_version) {
  const float f4[] = {1, 2, 3, 4, 5, 6};
  const double f8[] = {1, 2, 3, 4, 5, 6};
  const std::int32_t i4[] = {1, 2, 3, 4, 5, 6};
  const std::int64_t i8[] = {1, 2, 3, 4, 5, 6};
  const std::string end = "', 'fortran_order': False, 'shape': (2, 3), }\n";
  const Doubles wanted = {1, 2, 3, 4, 5, 6};
  const DenseTensor single = dense("a.npy", npy(1, "{'descr': '<f4" + end, f4, sizeof f4));
  EXPECT_EQ(single.value_type, ValueType::f32);
  EXPECT_EQ(single.extents, (Longs{2, 3}));
  EXPECT_EQ(values_of(single), wanted);
  EXPECT_EQ(values_of(dense("b.npy", npy(2, "{'descr': '<f8" + end, f8, sizeof f8))), wanted);
  EXPECT_EQ(values_of(dense("c.npy", npy(3, "{'descr': '<i4" + end, i4, sizeof i4))), wanted);
  EXPECT_EQ(values_of(dense("d.npy", npy(1, "{'descr': '<i8" + end, i8, sizeof i8))), wanted);
}

TEST_F(Files, npy_in_fortran_order) {
  const double f8[] = {1, 2, 3, 4, 5, 6};
  const DenseTensor t =
      dense("a.npy", npy(1, "{'shape': (2,3), 'fortran_order': True, 'descr': \"<f8\"}", f8, sizeof f8));
  EXPECT_EQ(values_of(t), (Doubles{1, 3, 5, 2, 4, 6}));
}

TEST_F(Files, npy_of_no_modes_and_of_no_elements) {
  const double f8[] = {2.5};
  EXPECT_EQ(values_of(dense("a.npy", npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", f8, 8))),
            (Doubles{2.5}));
  EXPECT_EQ(dense("b.npy", npy(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 3)}", f8, 0)).extents,
            (Longs{0, 3}));
}

// ---- writing

DenseTensor random_dense(std::mt19937_64& random, Longs extents, ValueType type) {
  DenseTensor t = *zeros(std::move(extents), type);
  std::uniform_real_distribution<double> uniform(-1e3, 1e3);
  for (std::int64_t e = 0; e < t.size(); ++e) t.set(e, random() % 4 == 0 ? 0.0 : uniform(random));
  return t;
}

TEST_F(Files, dense_tensors_come_back_exactly) {
  const std::uint64_t seed = 99;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const char* name : {"a.mtx", "a.mtx.gz", "a.npy", "a.npy.gz", "a.tns", "a.tns.gz", "a.npz",
                           "a.mtx.bz2", "a.tns.xz", "a.npy.bz2", "a.npy.xz"}) {
    for (const ValueType type : {ValueType::f64, ValueType::f32}) {
      SCOPED_TRACE(std::string(name) + " " + client::name(type));
      const DenseTensor t = random_dense(random, {7, 11}, type);
      ASSERT_TRUE(write(path(name), t).ok());
      const TensorData back = again(name, {7, 11});
      const DenseTensor found = std::holds_alternative<DenseTensor>(back)
                                    ? copy(std::get<DenseTensor>(back))
                                    : *to_dense(std::get<CooTensor>(back), "A");
      EXPECT_EQ(values_of(found), values_of(t));
    }
  }
  EXPECT_EQ(
      static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())),
      11U);
}

TEST_F(Files, entries_come_back_exactly) {
  const CooTensor t{{3, 4}, {{2, 0}, {1, 3}}, {0.1, -1e300}};
  for (const char* name : {"a.mtx", "a.mtx.gz", "a.tns", "a.tns.gz", "a.mtx.bz2", "a.tns.xz"}) {
    ASSERT_TRUE(write(path(name), t).ok());
    const auto back = std::get<CooTensor>(again(name));
    EXPECT_EQ(back.extents, t.extents);
    EXPECT_EQ(back.coordinates, t.coordinates);
    EXPECT_EQ(back.values, t.values);
  }
}

TEST_F(Files, tensors_of_other_orders_come_back) {
  std::mt19937_64 random(3);
  const DenseTensor third = random_dense(random, {2, 3, 4}, ValueType::f64),
                    scalar = random_dense(random, {}, ValueType::f64);
  const DenseTensor vector = random_dense(random, {5}, ValueType::f64);
  ASSERT_TRUE(write(path("t.npy"), third).ok() && write(path("s.npy"), scalar).ok() &&
              write(path("v.mtx"), vector).ok());
  EXPECT_EQ(values_of(std::get<DenseTensor>(again("t.npy", {2, 3, 4}))), values_of(third));
  EXPECT_EQ(values_of(std::get<DenseTensor>(again("s.npy"))), values_of(scalar));
  EXPECT_EQ(values_of(std::get<DenseTensor>(again("v.mtx", {5}))), values_of(vector));
}

TEST_F(Files, packed_tensors_are_written_by_their_format) {
  const CooTensor t{{3, 4}, {{2, 0}, {1, 3}}, {2, 5}};
  const auto csr =
      format::TensorFormat{{format::LevelFormat::dense, format::LevelFormat::compressed}, {0, 1}};
  ASSERT_TRUE(write(path("a.mtx"), *pack(t, csr, {"B", ValueType::f64, 64})).ok());
  EXPECT_EQ(std::get<CooTensor>(again("a.mtx")).values, (Doubles{5, 2}));
  ASSERT_TRUE(write(path("b.mtx"), *pack(t, format::dense(2), {"B", ValueType::f64, 64})).ok());
  EXPECT_TRUE(std::holds_alternative<DenseTensor>(again("b.mtx")));
}

TEST_F(Files, FrosttKeepsExtentsThatItWasWrittenWith) {
  const CooTensor few{{5, 6, 7}, {{1}, {0}, {2}}, {1.5}}, none{{4, 9}, {{}, {}}, {}};
  ASSERT_TRUE(write(path("a.tns"), few).ok() && write(path("b.tns"), none).ok());
  EXPECT_EQ(extents_of(again("a.tns")), few.extents);
  EXPECT_EQ(extents_of(again("b.tns")), none.extents);
  EXPECT_EQ(coo("c.tns", "# extents 9x9\n1 2 3\n").extents, (Longs{1, 2}));  // another's comment
  EXPECT_EQ(coo("d.tns", "1 2 3\n# schaas extents 9 9\n").extents, (Longs{1, 2}));
}

TEST_F(Files, NpyOfEveryRealTypeIsRead) {
  const std::uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7c00};
  const DenseTensor f2 =
      dense("a.npy", npy(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (4,)}", halves, 8));
  EXPECT_EQ(f2.value_type, ValueType::f32);
  EXPECT_EQ(values_of(f2), (Doubles{1, -2, std::ldexp(1.0, -24), HUGE_VAL}));
  const unsigned char bytes[] = {0, 1, 2, 255};
  EXPECT_EQ(
      values_of(dense("b.npy", npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", bytes, 4))),
      (Doubles{0, 1, 1, 1}));
  EXPECT_EQ(
      values_of(dense("c.npy", npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}", bytes, 4))),
      (Doubles{0, 1, 2, 255}));
  EXPECT_EQ(
      values_of(dense("d.npy", npy(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (4,)}", bytes, 4))),
      (Doubles{0, 1, 2, -1}));
  EXPECT_EQ(
      values_of(dense("e.npy", npy(1, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}", bytes, 4))),
      (Doubles{1, 767}));
  const std::uint64_t large[] = {std::uint64_t{1} << 60};
  EXPECT_EQ(
      values_of(dense("f.npy", npy(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}", large, 8))),
      (Doubles{0x1p60}));
}

TEST_F(Files, MtxOfUnsignedIntegersIsRead) {
  EXPECT_EQ(
      coo("a.mtx", "%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 1\n1 2 9007199254740992\n")
          .values,
      (Doubles{0x1p53}));
  EXPECT_EQ(values_of(dense("b.mtx", "%%MatrixMarket matrix array unsigned-integer general\n1 2\n3\n+4\n")),
            (Doubles{3, 4}));
}

TEST_F(Files, EntriesKeepTheirTypeInNpyAndNpz) {
  CooTensor t{{2, 3}, {{1, 0}, {2, 1}}, {0.5, 0.0}};
  t.value_type = ValueType::f32;
  ASSERT_TRUE(write(path("a.npy"), t).ok() && write(path("a.npz"), t).ok());
  EXPECT_EQ(std::get<DenseTensor>(again("a.npy")).value_type, ValueType::f32);
  const auto back = std::get<CooTensor>(again("a.npz"));
  EXPECT_EQ(back.value_type, ValueType::f32);
  EXPECT_EQ(back.values, (Doubles{0.0, 0.5}));  // the zero is an entry
  EXPECT_EQ(back.coordinates, (std::vector<Longs>{{0, 1}, {1, 2}}));
}

TEST_F(Files, IntegersStayExactWhereTheyAreWanted) {
  CooTensor t{{2, 3}, {{0, 1}, {2, 1}}, {}};
  t.value_type = ValueType::i64;
  t.integers = {(std::int64_t{1} << 53) + 1, INT64_MIN};
  ReadOptions wanted;
  wanted.value_type = ValueType::i64;
  for (const char* name : {"a.mtx", "a.tns", "a.npz", "a.npy"}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(write(path(name), t).ok());
    const auto back = read(path(name), wanted);
    ASSERT_TRUE(back.ok()) << support::render(back.error());
    const auto* entries = std::get_if<CooTensor>(&*back);
    const CooTensor found = entries != nullptr ? *entries : to_coo(std::get<DenseTensor>(*back));
    EXPECT_EQ(found.value_type, ValueType::i64);
    EXPECT_EQ(found.integers, t.integers);
    EXPECT_EQ(found.coordinates, t.coordinates);
  }
}

TEST_F(Files, FractionsAreNoIntegers) {
  std::ofstream(path("a.mtx"))
      << "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 3.0e0\n1 2 0.5\n";
  ReadOptions wanted;
  wanted.value_type = ValueType::i32;
  EXPECT_EQ(support::render(read(path("a.mtx"), wanted).error()),
            "invalid [file-number]: expected an integer, found `0.5`\n  --> " + path("a.mtx") +
                ":4:5\n  | 1 2 0.5\n  |     ^~~");
}

TEST_F(Files, PipesAreToldByTheirContent) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n3 4 1\n2 3 1.5\n";
  for (const std::string& content : {text, gzip(text), std::string("# schaas extents 3 4\n2 3 1.5\n")}) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path("pipe"), std::ios::binary) << content; });
    const auto found = std::get<CooTensor>(again("pipe"));
    writer.join();
    EXPECT_EQ(found.extents, (Longs{3, 4}));
    EXPECT_EQ(found.values, (Doubles{1.5}));
    fs::remove(path("pipe"));
  }
  ASSERT_EQ(mkfifo(path("out").c_str(), 0600), 0);
  ASSERT_TRUE(check_writable(path("out")).ok());
  std::string written;
  std::thread reader([&] {
    std::ifstream in(path("out"));
    written.assign(std::istreambuf_iterator<char>(in), {});
  });
  EXPECT_TRUE(write(path("out"), CooTensor{{3, 4}, {{1}, {2}}, {1.5}}).ok());
  reader.join();
  EXPECT_EQ(written, text);
}

TEST_F(Files, WritingKeepsLinksAndModes) {
  const DenseTensor two = *zeros({2}, ValueType::f64), three = *zeros({3}, ValueType::f64);
  fs::create_directory(folder_ / "there");
  ASSERT_TRUE(write(path("there/a.npy"), two).ok());
  fs::permissions(path("there/a.npy"), fs::perms(0640));
  fs::create_symlink("there/a.npy", path("link.npy"));
  fs::create_symlink("there/new.npy", path("ahead.npy"));
  ASSERT_TRUE(write(path("link.npy"), three).ok() && write(path("ahead.npy"), three).ok());
  EXPECT_TRUE(fs::is_symlink(path("link.npy")) && fs::is_symlink(path("ahead.npy")));
  EXPECT_EQ(extents_of(again("there/a.npy")), (Longs{3}));
  EXPECT_EQ(extents_of(again("there/new.npy")), (Longs{3}));
  EXPECT_EQ(fs::status(path("there/a.npy")).permissions(), fs::perms(0640));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "there"), fs::directory_iterator()), 2);
}

TEST_F(Files, writing_replaces_a_file_at_once_and_leaves_no_other) {
  ASSERT_TRUE(write(path("a.npy"), *zeros({2}, ValueType::f64)).ok());
  ASSERT_TRUE(write(path("a.npy"), *zeros({3}, ValueType::f64)).ok());
  EXPECT_EQ(extents_of(again("a.npy")), (Longs{3}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace schaas::client
