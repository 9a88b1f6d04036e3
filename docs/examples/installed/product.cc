// y = B x with an installed schaas, B in csr, on arrays of this program. C++17 or later.
#include <schaas/schaas.hpp>
#include <schaas/views.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  // B = [[1 0 2] [0 0 0] [0 3 0]]
  std::vector<double> values = {1, 2, 3}, x = {1, 10, 100}, y(3);
  std::vector<std::int32_t> positions = {0, 2, 2, 3}, coordinates = {0, 2, 1};
  try {
    const auto b = schaas::View::csr({3, 3}, positions, coordinates, values);
    const auto in = schaas::View::dense({3}, x), out = schaas::View::dense({3}, y);
    const schaas::Session session;  // $SCHAAS_SERVER, else a private server
    const schaas::Kernels kernels(session, {"y(i) = B(i,j) * x(j)", {{"B", "csr"}}});
    schaas_options options{};
    options.struct_bytes = sizeof options;
    options.result = &out.tensor();
    auto product = kernels.bind({{"B", b}, {"x", in}}, &options);
    product.run();
    std::printf("%g %g %g\n", y[0], y[1], y[2]);
    x[0] = 5;  // values may change between runs
    product.run();
    std::printf("%g %g %g\n", y[0], y[1], y[2]);
    return 0;
  } catch (const schaas::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.status();
  }
}
