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
    // Tells what was measured alone from what was measured beside other work.
    R"sql(
    ALTER TABLE measurement ADD COLUMN exclusive INTEGER NOT NULL DEFAULT 0 CHECK (exclusive IN (0, 1));
    )sql",
};
// The number in the header is that of the newest schema.
static_assert(std::size(schedule_migrations) == schema_version);

// Totals, in a table of the connection that triggers keep: asking for them reads no rows. They are counted
// once, when the database is opened, so that no file can hold wrong ones.
constexpr const char* row_totals[] = {
    "CREATE TEMP TABLE total AS SELECT (SELECT count(*) FROM problem) AS problems, "
    "(SELECT count(*) FROM frontier) AS frontiers, (SELECT count(*) FROM kernel) AS kernels, "
    "(SELECT coalesce(sum(bytes), 0) FROM frontier_use) AS bytes",
    "CREATE TEMP TRIGGER problem_added AFTER INSERT ON main.problem BEGIN "
    "UPDATE total SET problems = problems + 1; END",
    "CREATE TEMP TRIGGER problem_dropped AFTER DELETE ON main.problem BEGIN "
    "UPDATE total SET problems = problems - 1; END",
    "CREATE TEMP TRIGGER frontier_added AFTER INSERT ON main.frontier BEGIN "
    "UPDATE total SET frontiers = frontiers + 1; END",
    "CREATE TEMP TRIGGER frontier_dropped AFTER DELETE ON main.frontier BEGIN "
    "UPDATE total SET frontiers = frontiers - 1; END",
    "CREATE TEMP TRIGGER kernel_added AFTER INSERT ON main.kernel BEGIN "
    "UPDATE total SET kernels = kernels + 1; END",
    "CREATE TEMP TRIGGER kernel_dropped AFTER DELETE ON main.kernel BEGIN "
    "UPDATE total SET kernels = kernels - 1; END",
    "CREATE TEMP TRIGGER bytes_added AFTER INSERT ON main.frontier_use BEGIN "
    "UPDATE total SET bytes = bytes + new.bytes; END",
    "CREATE TEMP TRIGGER bytes_changed AFTER UPDATE OF bytes ON main.frontier_use BEGIN "
    "UPDATE total SET bytes = bytes + new.bytes - old.bytes; END",
    "CREATE TEMP TRIGGER bytes_dropped AFTER DELETE ON main.frontier_use BEGIN "
    "UPDATE total SET bytes = bytes - old.bytes; END"};

constexpr Schema schema_of_schedules{"schedule database", schedule_migrations, false, row_totals};

// In a database, never edit: append an entry. A new entry only adds, so that servers of the version before go
// on beside new ones. The triggers of the totals run at the commit. So the row that every writer changes is
// locked last and shortly, and writers do not deadlock.
constexpr const char* postgres_migrations[] = {
    R"sql(
    CREATE TABLE problem (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      key text COLLATE "C" NOT NULL UNIQUE,
      canonical text NOT NULL,
      family text NOT NULL DEFAULT '',
      pinned bigint NOT NULL DEFAULT 0,
      asked text NOT NULL DEFAULT '',
      created text COLLATE "C" NOT NULL
    );
    CREATE INDEX problem_by_family ON problem(family);
    CREATE TABLE frontier (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      problem bigint NOT NULL REFERENCES problem(id) ON DELETE CASCADE,
      options text NOT NULL,
      search_version bigint NOT NULL,
      complete bigint NOT NULL,
      schedules bigint NOT NULL,
      seconds float8 NOT NULL,
      created text COLLATE "C" NOT NULL,
      payload bytea COMPRESSION lz4 NOT NULL,
      digest text NOT NULL DEFAULT '',
      UNIQUE (problem, options, search_version)
    );
    CREATE TABLE frontier_use (
      frontier bigint PRIMARY KEY REFERENCES frontier(id) ON DELETE CASCADE,
      used text COLLATE "C" NOT NULL,
      bytes bigint NOT NULL
    );
    CREATE INDEX frontier_use_by_time ON frontier_use(used, frontier);
    CREATE TABLE kernel (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      key text COLLATE "C" NOT NULL UNIQUE,
      problem bigint NOT NULL REFERENCES problem(id) ON DELETE CASCADE,
      trace text NOT NULL,
      isa text NOT NULL,
      sha256 text COLLATE "C" NOT NULL CHECK (length(sha256) = 64),
      bytes bigint NOT NULL,
      seconds float8 NOT NULL,
      created text COLLATE "C" NOT NULL,
      signature text NOT NULL DEFAULT '',
      digest text NOT NULL DEFAULT ''
    );
    CREATE INDEX kernel_by_problem ON kernel(problem);
    CREATE INDEX kernel_by_sha256 ON kernel(sha256);
    CREATE TABLE measurement (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      problem bigint NOT NULL REFERENCES problem(id) ON DELETE CASCADE,
      host text NOT NULL,
      sizes text NOT NULL,
      threads bigint NOT NULL,
      isa text NOT NULL,
      trace text NOT NULL,
      code_version bigint NOT NULL,
      seconds float8 NOT NULL,
      created text COLLATE "C" NOT NULL,
      digest text NOT NULL DEFAULT '',
      UNIQUE (problem, host, sizes, threads, isa, trace, code_version)
    );
    CREATE TABLE toolchain (
      target text PRIMARY KEY,
      identity text NOT NULL,
      since text NOT NULL
    );
    CREATE FUNCTION row_digest(text, text, text, bigint, bigint, bigint, float8, text, bytea) RETURNS text STABLE
      LANGUAGE sql AS $$ SELECT encode(sha256(convert_to(ROW($1, $2, $3, $4, $5, $6, $7, $8)::text, 'UTF8') || $9), 'hex') $$;
    CREATE FUNCTION row_digest(text, text, text, text, text, text, bigint, float8, text, text) RETURNS text STABLE
      LANGUAGE sql AS $$ SELECT encode(sha256(convert_to(ROW($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)::text, 'UTF8')), 'hex') $$;
    CREATE FUNCTION row_digest(text, text, text, text, bigint, text, text, bigint, float8, text) RETURNS text STABLE
      LANGUAGE sql AS $$ SELECT encode(sha256(convert_to(ROW($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)::text, 'UTF8')), 'hex') $$;
    CREATE TABLE binary_content (
      sha256 text COLLATE "C" PRIMARY KEY CHECK (length(sha256) = 64),
      bytes bigint NOT NULL,
      content bytea COMPRESSION lz4 NOT NULL,
      used bigint NOT NULL
    );
    CREATE TABLE fleet (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      public_key text NOT NULL
    );
    CREATE TABLE total (
      problems bigint NOT NULL, frontiers bigint NOT NULL, kernels bigint NOT NULL, bytes bigint NOT NULL,
      binary_bytes bigint NOT NULL
    );
    INSERT INTO total VALUES (0, 0, 0, 0, 0);
    CREATE FUNCTION count_row() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      more bigint := CASE TG_OP WHEN 'INSERT' THEN 1 WHEN 'DELETE' THEN -1 ELSE 0 END;
    BEGIN
      CASE TG_TABLE_NAME
        WHEN 'problem' THEN UPDATE total SET problems = problems + more;
        WHEN 'frontier' THEN UPDATE total SET frontiers = frontiers + more;
        WHEN 'kernel' THEN UPDATE total SET kernels = kernels + more;
        WHEN 'frontier_use' THEN
          UPDATE total SET bytes = bytes + CASE WHEN TG_OP = 'DELETE' THEN 0 ELSE NEW.bytes END
                                         - CASE WHEN TG_OP = 'INSERT' THEN 0 ELSE OLD.bytes END;
        WHEN 'binary_content' THEN
          UPDATE total SET binary_bytes = binary_bytes + more * CASE WHEN TG_OP = 'DELETE' THEN OLD.bytes ELSE NEW.bytes END;
      END CASE;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER problem_counted AFTER INSERT OR DELETE ON problem
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_row();
    CREATE CONSTRAINT TRIGGER frontier_counted AFTER INSERT OR DELETE ON frontier
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_row();
    CREATE CONSTRAINT TRIGGER kernel_counted AFTER INSERT OR DELETE ON kernel
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_row();
    CREATE CONSTRAINT TRIGGER binary_counted AFTER INSERT OR DELETE ON binary_content
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_row();
    CREATE CONSTRAINT TRIGGER use_counted AFTER INSERT OR UPDATE OF bytes OR DELETE ON frontier_use
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_row();
    )sql",
    // Kernels that failed their trial at one of the servers, which all refuse.
    R"sql(
    ALTER TABLE measurement ADD COLUMN exclusive bigint NOT NULL DEFAULT 0;
    CREATE TABLE rejection (
      kernel_key text COLLATE "C" PRIMARY KEY,
      process text NOT NULL,
      report text NOT NULL,
      content bytea COMPRESSION lz4 NOT NULL,
      created text COLLATE "C" NOT NULL
    );
    )sql",
};

constexpr Schema postgres_schema_of_schedules{"schedules", postgres_migrations};

}  // namespace

const Schema& schedule_schema() { return schema_of_schedules; }
const Schema& postgres_schedule_schema() { return postgres_schema_of_schedules; }

}  // namespace schaas::kernels_cache
