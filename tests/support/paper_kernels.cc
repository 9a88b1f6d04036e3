#include "tests/support/paper_kernels.h"

#include <stdexcept>

namespace schaas::test_support {
namespace {

PaperKernel kernel(const char* name, const char* expression, const char* format_of_b, const char* symmetric) {
  PaperKernel out;
  out.name = name;
  out.text.expression = expression;
  out.text.formats = {{"B", format_of_b}};
  out.symmetric_members = symmetric;
  return out;
}

}  // namespace

const std::vector<PaperKernel>& paper_kernels() {
  static const std::vector<PaperKernel> kernels = {
      kernel("K1", "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "csr", "139319"),
      kernel("K2", "A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)", "csr", "1209527396"),
      kernel("K3", "A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)", "csr", "145644"),
      kernel("K4", "A(i,l) = B(i,j) * C(j,k) * D(k,l)", "csr", "888"),
      kernel("K5", "A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)", "csf", "86386269"),
      kernel("K6", "A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", "csf", "3329"),
      kernel("K7", "A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", "csf", "2522"),
      kernel("K8", "A(i,m) = B(i,k,l) * C(l,j) * D(k,j) * E(j,m)", "csf", "390857"),
  };
  return kernels;
}

const PaperKernel& paper_kernel(const std::string& name) {
  for (const auto& one : paper_kernels()) {
    if (one.name == name) return one;
  }
  throw std::out_of_range("no kernel " + name);
}

}  // namespace schaas::test_support
