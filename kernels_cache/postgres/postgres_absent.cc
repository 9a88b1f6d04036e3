#include "kernels_cache/postgres/postgres.h"

// Stands for postgres.cc where libpq was not installed when schaas was built.
namespace schaas::kernels_cache {

support::Result<std::shared_ptr<Database>> open_postgres(const std::string&, const std::vector<Schema>&,
                                                         const std::string&, std::size_t) {
  return support::noting(
      support::unsupported("no-postgresql", "this schaas was built without PostgreSQL's client library"),
      "install libpq-dev and build it again");
}

}  // namespace schaas::kernels_cache
