// Sparse operations as a user of Eigen writes them, for tests/bench/sparse_results.py, which compiles this
// file when Eigen is installed. Reads coordinate files without header ("rows columns entries", then 0-based
// "row column value"), one per operand.
//
//     eigen_operations product|sum|pairwise REPEAT FILE...
//
// Prints the seconds of each repetition in one line, then the number of entries and the sum of the values.
#include "print_seconds.h"

#include <Eigen/SparseCore>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

static Matrix read(const char* path) {
  std::ifstream file(path);
  long rows = 0, columns = 0, entries = 0;
  file >> rows >> columns >> entries;
  std::vector<Eigen::Triplet<double, int>> list(static_cast<std::size_t>(entries));
  for (auto& entry : list) {
    int row = 0, column = 0;
    double value = 0;
    file >> row >> column >> value;
    entry = {row, column, value};
  }
  Matrix matrix(rows, columns);
  matrix.setFromTriplets(list.begin(), list.end());
  return matrix;
}

// One expression of all operands, which Eigen evaluates in one pass over their rows.
static Matrix sum(const std::vector<Matrix>& m) {
  switch (m.size()) {
    case 2:
      return m[0] + m[1];
    case 3:
      return m[0] + m[1] + m[2];
    case 4:
      return m[0] + m[1] + m[2] + m[3];
    case 5:
      return m[0] + m[1] + m[2] + m[3] + m[4];
    case 6:
      return m[0] + m[1] + m[2] + m[3] + m[4] + m[5];
    case 7:
      return m[0] + m[1] + m[2] + m[3] + m[4] + m[5] + m[6];
    default:
      return m[0] + m[1] + m[2] + m[3] + m[4] + m[5] + m[6] + m[7];
  }
}

static Matrix pairwise(const std::vector<Matrix>& m) {
  Matrix total = m[0];
  for (std::size_t n = 1; n < m.size(); ++n) total = Matrix(total + m[n]);
  return total;
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string operation = argv[1];
  std::vector<Matrix> operands;
  for (int n = 3; n < argc; ++n) operands.push_back(read(argv[n]));
  Matrix result;
  print_seconds(std::atoi(argv[2]), [&] {
    if (operation == "product") {
      result = Matrix(operands[0] * operands[1]);
    } else {
      result = operation == "sum" ? sum(operands) : pairwise(operands);
    }
  });
  std::printf("%ld %.17g\n", static_cast<long>(result.nonZeros()), result.sum());
}
