// Products and sums of sparse matrices as the papers print them (Kjolstad et al., CGO 2019, figures 8 and
// 10), plain loops: a row of a dense workspace, whether each of its coordinates was seen, a list of those
// that were, sorted, then appended to arrays that double. One pass, one thread. Files and output are those of
// eigen_operations.cc.
//
// `pairwise`: sums of two, one after the other, each two lists walked together (figure 7's loops).
//
//     plain_operations product|sum|pairwise REPEAT FILE...
#include "print_seconds.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
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

// Grows as the papers' arrays do: nothing is written before it is appended.
template <class T>
class Growing {
 public:
  explicit Growing(std::size_t capacity) { grow(capacity); }
  void grow(std::size_t capacity) {
    void* larger = std::realloc(memory_.get(), capacity * sizeof(T));
    if (larger == nullptr) std::abort();
    (void)memory_.release();
    memory_.reset(static_cast<T*>(larger));
  }
  T& operator[](std::size_t n) { return memory_.get()[n]; }
  const T& operator[](std::size_t n) const { return memory_.get()[n]; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> memory_;
};

struct Result {
  std::vector<std::int32_t> pos;
  std::size_t entries = 0, capacity = 1 << 20;
  Growing<std::int32_t> crd{capacity};
  Growing<double> values{capacity};

  void append(std::int32_t column, double value) {
    if (entries == capacity) {
      capacity *= 2;
      crd.grow(capacity);
      values.grow(capacity);
    }
    crd[entries] = column;
    values[entries++] = value;
  }
};

// One row of the result at a time.
class Workspace {
 public:
  Workspace(std::int32_t rows, std::int32_t columns)
      : values_(static_cast<std::size_t>(columns), 0),
        seen_(static_cast<std::size_t>(columns), 0),
        list_(static_cast<std::size_t>(columns)) {
    out_.pos.resize(static_cast<std::size_t>(rows) + 1);
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
    while (out_.entries + size_ > out_.capacity) {
      out_.capacity *= 2;
      out_.crd.grow(out_.capacity);
      out_.values.grow(out_.capacity);
    }
    for (std::size_t n = 0; n < size_; ++n) {
      const std::int32_t j = list_[n];
      out_.crd[out_.entries] = j;
      out_.values[out_.entries++] = values_[j];
      values_[j] = 0;
      seen_[j] = 0;
    }
    size_ = 0;
    out_.pos[static_cast<std::size_t>(i) + 1] = static_cast<std::int32_t>(out_.entries);
  }
  Result take() { return std::move(out_); }

 private:
  std::vector<double> values_;
  std::vector<std::uint8_t> seen_;
  std::vector<std::int32_t> list_;
  std::size_t size_ = 0;
  Result out_;
};

static Result product(const Matrix& a, const Matrix& b) {
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

static Result sum(const std::vector<Matrix>& m) {
  Workspace w(m[0].rows, m[0].columns);
  for (std::int32_t i = 0; i < m[0].rows; ++i) {
    for (const Matrix& each : m) {
      for (std::int32_t p = each.pos[i]; p < each.pos[i + 1]; ++p) w.add(each.crd[p], each.values[p]);
    }
    w.append(i);
  }
  return w.take();
}

template <class Left>
static Result sum_of_two(const Left& a, const Matrix& b, std::int32_t rows) {
  Result out;
  out.pos.resize(static_cast<std::size_t>(rows) + 1);
  for (std::int32_t i = 0; i < rows; ++i) {
    std::size_t p = a.pos[i], q = b.pos[i];
    const std::size_t p_end = a.pos[i + 1], q_end = b.pos[i + 1];
    while (p < p_end && q < q_end) {
      const std::int32_t left = a.crd[p], right = b.crd[q];
      if (left == right) {
        out.append(left, a.values[p++] + b.values[q++]);
      } else if (left < right) {
        out.append(left, a.values[p++]);
      } else {
        out.append(right, b.values[q++]);
      }
    }
    for (; p < p_end; ++p) out.append(a.crd[p], a.values[p]);
    for (; q < q_end; ++q) out.append(b.crd[q], b.values[q]);
    out.pos[static_cast<std::size_t>(i) + 1] = static_cast<std::int32_t>(out.entries);
  }
  return out;
}

static Result pairwise(const std::vector<Matrix>& m) {
  Result out = sum_of_two(m[0], m[1], m[0].rows);
  for (std::size_t n = 2; n < m.size(); ++n) out = sum_of_two(out, m[n], m[0].rows);
  return out;
}

static Result made(const std::string& operation, const std::vector<Matrix>& operands) {
  if (operation == "product") return product(operands[0], operands[1]);
  return operation == "sum" ? sum(operands) : pairwise(operands);
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string operation = argv[1];
  std::vector<Matrix> operands;
  for (int n = 3; n < argc; ++n) operands.push_back(read(argv[n]));
  std::optional<Result> result;
  print_seconds(std::atoi(argv[2]), [&] { result.emplace(made(operation, operands)); });
  double total = 0;
  for (std::size_t n = 0; n < result->entries; ++n) total += result->values[n];
  std::printf("%zu %.17g\n", result->entries, total);
}
