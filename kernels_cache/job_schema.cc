#include "kernels_cache/job_schema.h"

namespace schaas::kernels_cache {
namespace {

// On disk, never edit: append an entry to change the schema. Entry n brings version n to n + 1.
constexpr const char* job_migrations[] = {
    R"sql(
    CREATE TABLE client (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      served INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE job (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL UNIQUE,
      digest TEXT NOT NULL,
      client INTEGER NOT NULL REFERENCES client(id),
      label TEXT NOT NULL,
      priority INTEGER NOT NULL,
      budget REAL NOT NULL,
      spent_before REAL NOT NULL DEFAULT 0,
      created TEXT NOT NULL
    ) STRICT;
    CREATE TABLE item (
      id INTEGER PRIMARY KEY,
      job INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      request TEXT NOT NULL,
      state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
      attempts INTEGER NOT NULL DEFAULT 0,
      error TEXT NOT NULL DEFAULT '',
      seconds REAL NOT NULL DEFAULT 0,
      ended INTEGER NOT NULL DEFAULT 0,
      UNIQUE (job, number)
    ) STRICT;
    CREATE INDEX item_by_state ON item(state, job);
    CREATE INDEX item_by_end ON item(ended);
    )sql",
    // Adds the last end number before a retry. Unknown for older jobs: greater than all numbers.
    R"sql(
    ALTER TABLE job ADD COLUMN ended_before INTEGER NOT NULL DEFAULT 0;
    UPDATE job SET ended_before = (SELECT max(ended) FROM item);
    DROP INDEX item_by_end;
    CREATE INDEX item_by_end ON item(job, ended);
    )sql",
    // Makes keys unique per client. A constraint cannot be dropped, so both tables are created anew.
    R"sql(
    ALTER TABLE item RENAME TO old_item;
    ALTER TABLE job RENAME TO old_job;
    CREATE TABLE job (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL,
      digest TEXT NOT NULL,
      client INTEGER NOT NULL REFERENCES client(id),
      label TEXT NOT NULL,
      priority INTEGER NOT NULL,
      budget REAL NOT NULL,
      spent_before REAL NOT NULL DEFAULT 0,
      ended_before INTEGER NOT NULL DEFAULT 0,
      created TEXT NOT NULL,
      UNIQUE (client, key)
    ) STRICT;
    INSERT INTO job(id, key, digest, client, label, priority, budget, spent_before, ended_before, created)
      SELECT id, key, digest, client, label, priority, budget, spent_before, ended_before, created FROM old_job;
    CREATE TABLE item (
      id INTEGER PRIMARY KEY,
      job INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      request TEXT NOT NULL,
      state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
      attempts INTEGER NOT NULL DEFAULT 0,
      error TEXT NOT NULL DEFAULT '',
      seconds REAL NOT NULL DEFAULT 0,
      ended INTEGER NOT NULL DEFAULT 0,
      UNIQUE (job, number)
    ) STRICT;
    INSERT INTO item(id, job, number, request, state, attempts, error, seconds, ended)
      SELECT id, job, number, request, state, attempts, error, seconds, ended FROM old_item;
    DROP TABLE old_item;
    DROP TABLE old_job;
    CREATE INDEX item_by_state ON item(state, job);
    CREATE INDEX item_by_end ON item(job, ended);
    )sql",
    // Adds the time at which an item of the job ended last; the time of the migration for older jobs.
    R"sql(
    ALTER TABLE job ADD COLUMN changed TEXT NOT NULL DEFAULT '';
    UPDATE job SET changed = strftime('%Y-%m-%dT%H:%M:%fZ', 'now');
    CREATE INDEX job_by_change ON job(changed);
    )sql",
    // Adds the estimated size of the job's rows, and the number of attempts at an item, which no retry
    // resets.
    R"sql(
    ALTER TABLE item ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE job ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE job SET bytes = 200 + (SELECT sum(200 + length(CAST(request AS BLOB))) FROM item WHERE item.job = job.id);
    )sql",
    // Adds who works on an item or ended it, when it ended, and in which lifetime of the database it was
    // claimed.
    R"sql(
    ALTER TABLE item ADD COLUMN worker TEXT NOT NULL DEFAULT '';
    ALTER TABLE item ADD COLUMN finished TEXT NOT NULL DEFAULT '';
    ALTER TABLE item ADD COLUMN lifetime TEXT NOT NULL DEFAULT '';
    )sql",
    // Adds the instruction set that whoever claims the item must take; '' is anybody's.
    R"sql(
    ALTER TABLE item ADD COLUMN isa TEXT NOT NULL DEFAULT '';
    )sql",
};

// Items by state of each job, in a table of the connection that triggers keep: asking for them reads no
// items. They are counted when the database is opened, so that no file can hold wrong ones.
#define MOVED(state) state " = " state " + (new.state = '" state "') - (old.state = '" state "')"
constexpr const char* item_totals[] = {
    "CREATE TEMP TABLE job_total(job INTEGER PRIMARY KEY, waiting INTEGER NOT NULL, running INTEGER NOT "
    "NULL, "
    "done INTEGER NOT NULL, failed INTEGER NOT NULL, cancelled INTEGER NOT NULL, seconds REAL NOT NULL) "
    "STRICT",
    "INSERT INTO job_total SELECT job, sum(state = 'waiting'), sum(state = 'running'), sum(state = 'done'), "
    "sum(state = 'failed'), sum(state = 'cancelled'), sum(seconds) FROM item GROUP BY job",
    "CREATE INDEX temp.job_waiting ON job_total(job) WHERE waiting > 0",
    "CREATE TEMP TRIGGER job_added AFTER INSERT ON main.job BEGIN "
    "INSERT INTO job_total VALUES (new.id, 0, 0, 0, 0, 0, 0.0); END",
    "CREATE TEMP TRIGGER job_dropped AFTER DELETE ON main.job BEGIN "
    "DELETE FROM job_total WHERE job = old.id; END",
    // New items wait.
    "CREATE TEMP TRIGGER item_added AFTER INSERT ON main.item BEGIN "
    "UPDATE job_total SET waiting = waiting + 1 WHERE job = new.job; END",
    "CREATE TEMP TRIGGER item_changed AFTER UPDATE OF state ON main.item WHEN old.state <> new.state BEGIN "
    "UPDATE job_total SET " MOVED("waiting") ", " MOVED("running") ", " MOVED("done") ", " MOVED(
        "failed") ", " MOVED("cancelled") " WHERE job = new.job; END",
    "CREATE TEMP TRIGGER seconds_changed AFTER UPDATE OF seconds ON main.item BEGIN "
    "UPDATE job_total SET seconds = seconds + new.seconds - old.seconds WHERE job = new.job; END"};
#undef MOVED

// Durable: a commit is on the disk when it returns.
constexpr Schema schema_of_jobs{"job database", job_migrations, true, item_totals};

// In a database, never edit: append an entry. A new entry only adds, so that servers of the version before go
// on beside new ones.
constexpr const char* postgres_migrations_of_jobs[] = {
    R"sql(
    CREATE TABLE client (
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      name text NOT NULL UNIQUE,
      served bigint NOT NULL DEFAULT 0
    );
    CREATE TABLE job (
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      key text NOT NULL,
      digest text NOT NULL,
      client bigint NOT NULL REFERENCES client(id),
      label text NOT NULL,
      priority bigint NOT NULL,
      budget float8 NOT NULL,
      spent_before float8 NOT NULL DEFAULT 0,
      ended_before bigint NOT NULL DEFAULT 0,
      created text COLLATE "C" NOT NULL,
      changed text COLLATE "C" NOT NULL DEFAULT '',
      bytes bigint NOT NULL DEFAULT 0,
      UNIQUE (client, key)
    );
    CREATE INDEX job_by_change ON job(changed);
    CREATE TABLE item (
      id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      job bigint NOT NULL REFERENCES job(id) ON DELETE CASCADE,
      number bigint NOT NULL,
      request text NOT NULL,
      state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
      attempts bigint NOT NULL DEFAULT 0,
      run bigint NOT NULL DEFAULT 0,
      error text NOT NULL DEFAULT '',
      seconds float8 NOT NULL DEFAULT 0,
      ended bigint NOT NULL DEFAULT 0,
      UNIQUE (job, number)
    );
    CREATE INDEX item_waiting ON item(job, id) WHERE state = 'waiting';
    CREATE INDEX item_running ON item(id) WHERE state = 'running';
    CREATE INDEX item_by_end ON item(job, ended);
    CREATE TABLE job_total (
      job bigint PRIMARY KEY REFERENCES job(id) ON DELETE CASCADE,
      waiting bigint NOT NULL, running bigint NOT NULL, done bigint NOT NULL, failed bigint NOT NULL,
      cancelled bigint NOT NULL, seconds float8 NOT NULL
    ) WITH (fillfactor = 50);
    CREATE FUNCTION count_items() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' THEN
        UPDATE job_total SET waiting = job_total.waiting - n.waiting, running = job_total.running - n.running,
            done = job_total.done - n.done, failed = job_total.failed - n.failed,
            cancelled = job_total.cancelled - n.cancelled, seconds = job_total.seconds - n.seconds
          FROM (SELECT job, count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) FILTER (WHERE state = 'running') AS running,
                  count(*) FILTER (WHERE state = 'done') AS done, count(*) FILTER (WHERE state = 'failed') AS failed,
                  count(*) FILTER (WHERE state = 'cancelled') AS cancelled, sum(seconds) AS seconds
                FROM old_items GROUP BY job) AS n WHERE job_total.job = n.job;
      END IF;
      UPDATE job_total SET waiting = job_total.waiting + n.waiting, running = job_total.running + n.running,
          done = job_total.done + n.done, failed = job_total.failed + n.failed,
          cancelled = job_total.cancelled + n.cancelled, seconds = job_total.seconds + n.seconds
        FROM (SELECT job, count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) FILTER (WHERE state = 'running') AS running,
                count(*) FILTER (WHERE state = 'done') AS done, count(*) FILTER (WHERE state = 'failed') AS failed,
                count(*) FILTER (WHERE state = 'cancelled') AS cancelled, sum(seconds) AS seconds
              FROM new_items GROUP BY job) AS n WHERE job_total.job = n.job;
      RETURN NULL;
    END $$;
    CREATE FUNCTION begin_total() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO job_total VALUES (NEW.id, 0, 0, 0, 0, 0, 0);
      RETURN NULL;
    END $$;
    CREATE TRIGGER job_added AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION begin_total();
    CREATE TRIGGER item_added AFTER INSERT ON item REFERENCING NEW TABLE AS new_items
      FOR EACH STATEMENT EXECUTE FUNCTION count_items();
    CREATE TRIGGER item_changed AFTER UPDATE ON item REFERENCING OLD TABLE AS old_items NEW TABLE AS new_items
      FOR EACH STATEMENT EXECUTE FUNCTION count_items();
    )sql",
    R"sql(
    ALTER TABLE item ADD COLUMN worker text COLLATE "C" NOT NULL DEFAULT '',
      ADD COLUMN finished text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN lifetime text NOT NULL DEFAULT '';
    )sql",
    R"sql(
    ALTER TABLE item ADD COLUMN isa text NOT NULL DEFAULT '';
    )sql",
};

constexpr Schema postgres_schema_of_jobs{"jobs", postgres_migrations_of_jobs};

}  // namespace

const Schema& job_schema() { return schema_of_jobs; }
const Schema& postgres_job_schema() { return postgres_schema_of_jobs; }

}  // namespace schaas::kernels_cache
