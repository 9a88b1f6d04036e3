#include "kernels_cache/schedule_schema.h"

namespace schaas::kernels_cache {
namespace {

// On disk, never edit: append an entry to change the schema. Entry n brings version n to n + 1.
constexpr const char* schedule_migrations[] = {
    R"sql(
    CREATE TABLE problem (
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      canonical TEXT NOT NULL,
      created TEXT NOT NULL
    ) STRICT;
    CREATE TABLE frontier (
      id INTEGER PRIMARY KEY,
      problem INTEGER NOT NULL REFERENCES problem(id) ON DELETE CASCADE,
      options TEXT NOT NULL,
      search_version INTEGER NOT NULL,
      complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
      schedules INTEGER NOT NULL,
      seconds REAL NOT NULL,
      created TEXT NOT NULL,
      payload TEXT NOT NULL,
      UNIQUE (problem, options, search_version)
    ) STRICT;
    CREATE TABLE kernel (
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      problem INTEGER NOT NULL REFERENCES problem(id) ON DELETE CASCADE,
      trace TEXT NOT NULL,
      isa TEXT NOT NULL,
      sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
      bytes INTEGER NOT NULL,
      seconds REAL NOT NULL,
      created TEXT NOT NULL
    ) STRICT;
    CREATE INDEX kernel_by_problem ON kernel(problem);
    CREATE INDEX kernel_by_sha256 ON kernel(sha256);
    )sql",
    R"sql(
    ALTER TABLE problem ADD COLUMN family TEXT NOT NULL DEFAULT '';
    CREATE INDEX problem_by_family ON problem(family);
    )sql",
    R"sql(
    CREATE TABLE measurement (
      id INTEGER PRIMARY KEY,
      problem INTEGER NOT NULL REFERENCES problem(id) ON DELETE CASCADE,
      host TEXT NOT NULL,
      sizes TEXT NOT NULL,
      threads INTEGER NOT NULL,
      isa TEXT NOT NULL,
      trace TEXT NOT NULL,
      code_version INTEGER NOT NULL,
      seconds REAL NOT NULL,
      created TEXT NOT NULL,
      UNIQUE (problem, host, sizes, threads, isa, trace, code_version)
    ) STRICT;
    )sql",
    R"sql(
    ALTER TABLE kernel ADD COLUMN signature TEXT NOT NULL DEFAULT '';
    )sql",
    R"sql(
    ALTER TABLE problem ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1));
    )sql",
    // A table of its own, so that recording a use does not rewrite the payload.
    R"sql(
    CREATE TABLE frontier_use (
      frontier INTEGER PRIMARY KEY REFERENCES frontier(id) ON DELETE CASCADE,
      used TEXT NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO frontier_use SELECT id, created, length(CAST(payload AS BLOB)) FROM frontier;
    )sql",
    R"sql(
    ALTER TABLE problem ADD COLUMN asked TEXT NOT NULL DEFAULT '';
    )sql",
    // Digests of rows, over the columns that FRONTIER_DIGEST, KERNEL_DIGEST, MEASUREMENT_DIGEST name.
    R"sql(
    ALTER TABLE frontier ADD COLUMN digest TEXT NOT NULL DEFAULT '';
    ALTER TABLE kernel ADD COLUMN digest TEXT NOT NULL DEFAULT '';
    ALTER TABLE measurement ADD COLUMN digest TEXT NOT NULL DEFAULT '';
    UPDATE frontier SET digest = (SELECT )sql" FRONTIER_DIGEST
    R"sql( FROM problem WHERE problem.id = frontier.problem);
    UPDATE kernel SET digest = (SELECT )sql" KERNEL_DIGEST
    R"sql( FROM problem WHERE problem.id = kernel.problem);
    UPDATE measurement SET digest = (SELECT )sql" MEASUREMENT_DIGEST
    R"sql( FROM problem WHERE problem.id = measurement.problem);
    )sql",
    // Finds the least recently used frontiers without reading the others; notes which compilers made kernels.
    R"sql(
    CREATE INDEX frontier_use_by_time ON frontier_use(used, frontier);
    CREATE TABLE toolchain (
      target TEXT PRIMARY KEY,
      identity TEXT NOT NULL,
      since TEXT NOT NULL
    ) STRICT;
    )sql",
};
// The number in the header is that of the newest schema.
static_assert(std::size(schedule_migrations) == schema_version);

constexpr Schema schema_of_schedules{"schedule database", schedule_migrations, false};

}  // namespace

const Schema& schedule_schema() { return schema_of_schedules; }

}  // namespace schaas::kernels_cache
