// Products and sums of sparse matrices as the papers print them (Kjolstad et al., CGO 2019, figures 8 and 10), plain loops: a row of a dense
// workspace, whether each of its coordinates was seen, a list of those that were, sorted, then appended to arrays that double. One pass, one thread.
// Files and output are those of eigen_operations.cc.
//
//     plain_operations product|sum REPEAT FILE...
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

struct Matrix {
  std::int32_t rows = 0, columns = 0;
  std::vector<std::int32_t> pos, crd;
  std::vector<double> values;
};

static Matrix read(const char* path) {
  std::ifstream file(path);
  Matrix m;
  long entries = 0;
  file >> m.rows >> m.columns >> entries;
  m.pos.assign(static_cast<std::size_t>(m.rows) + 1, 0);
  for (long n = 0; n < entries; ++n) {  // sorted
    std::int32_t row = 0, column = 0;
    double value = 0;
    file >> row >> column >> value;
    ++m.pos[static_cast<std::size_t>(row) + 1];
    m.crd.push_back(column);
    m.values.push_back(value);
  }
  std::partial_sum(m.pos.begin(), m.pos.end(), m.pos.begin());
  return m;
}

// One row of the result at a time.
class Workspace {
 public:
  Workspace(std::int32_t rows, std::int32_t columns)
      : values_(static_cast<std::size_t>(columns), 0), seen_(static_cast<std::size_t>(columns), 0), list_(static_cast<std::size_t>(columns)) {
    out_.rows = rows;
    out_.columns = columns;
    out_.pos.resize(static_cast<std::size_t>(rows) + 1);
    out_.crd.resize(capacity_);
    out_.values.resize(capacity_);
  }
  void add(std::int32_t j, double value) {
    if (!seen_[j]) {
      list_[size_++] = j;
      seen_[j] = 1;
    }
    values_[j] += value;
  }
  void append(std::int32_t i) {
    std::sort(list_.begin(), list_.begin() + size_);
    while (entries_ + size_ > capacity_) {
      capacity_ *= 2;
      out_.crd.resize(capacity_);
      out_.values.resize(capacity_);
    }
    for (std::size_t n = 0; n < size_; ++n) {
      const std::int32_t j = list_[n];
      out_.crd[entries_] = j;
      out_.values[entries_++] = values_[j];
      values_[j] = 0;
      seen_[j] = 0;
    }
    size_ = 0;
    out_.pos[static_cast<std::size_t>(i) + 1] = static_cast<std::int32_t>(entries_);
  }
  Matrix take() {
    out_.crd.resize(entries_);
    out_.values.resize(entries_);
    return std::move(out_);
  }

 private:
  std::vector<double> values_;
  std::vector<std::uint8_t> seen_;
  std::vector<std::int32_t> list_;
  std::size_t size_ = 0, entries_ = 0, capacity_ = 1 << 20;
  Matrix out_;
};

static Matrix product(const Matrix& a, const Matrix& b) {
  Workspace w(a.rows, b.columns);
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (std::int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p) {
      const std::int32_t j = a.crd[p];
      for (std::int32_t q = b.pos[j]; q < b.pos[j + 1]; ++q) w.add(b.crd[q], a.values[p] * b.values[q]);
    }
    w.append(i);
  }
  return w.take();
}

static Matrix sum(const std::vector<Matrix>& m) {
  Workspace w(m[0].rows, m[0].columns);
  for (std::int32_t i = 0; i < m[0].rows; ++i) {
    for (const Matrix& each : m) {
      for (std::int32_t p = each.pos[i]; p < each.pos[i + 1]; ++p) w.add(each.crd[p], each.values[p]);
    }
    w.append(i);
  }
  return w.take();
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string operation = argv[1];
  std::vector<Matrix> operands;
  for (int n = 3; n < argc; ++n) operands.push_back(read(argv[n]));
  Matrix result;
  for (int repeat = std::atoi(argv[2]); repeat > 0; --repeat) {
    const auto start = std::chrono::steady_clock::now();
    result = operation == "product" ? product(operands[0], operands[1]) : sum(operands);
    std::printf("%.9f ", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("\n%zu %.17g\n", result.crd.size(), std::accumulate(result.values.begin(), result.values.end(), 0.0));
}
