#pragma once
#include <cstdlib>
#include <string>

#include "kernels_cache/postgres/postgres.h"

/// The PostgreSQL database that a test may empty. tests/fleet/stores.py starts a server and names it.
namespace schaas::test_support {

constexpr const char* no_test_database = "SCHAAS_TEST_DATABASE names no database; ctest -L fleet does";

/// Returns its connection string; "": there is none.
inline std::string test_database() {
  const char* named = std::getenv("SCHAAS_TEST_DATABASE");
  return named == nullptr ? "" : named;
}

/// Drops everything in it.
inline void clear_test_database() {
  const auto database = kernels_cache::open_postgres(test_database(), {}).value();
  const auto session = database->session().value();
  for (const char* sql : {"DROP SCHEMA public CASCADE", "CREATE SCHEMA public"})
    kernels_cache::Statement(*session, sql).run("clear the test database").ok();
}

}  // namespace schaas::test_support
