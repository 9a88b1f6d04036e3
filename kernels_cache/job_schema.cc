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
};

// Durable: a commit is on the disk when it returns.
constexpr Schema schema_of_jobs{"job database", job_migrations, true};

}  // namespace

const Schema& job_schema() { return schema_of_jobs; }

}  // namespace schaas::kernels_cache
