#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels_cache/database.h"

struct pg_conn;

namespace schaas::kernels_cache {

/// A connection to a PostgreSQL server, by libpq.
class PostgresConnection final : public Connection {
 public:
  /// Connects under a name of at most 63 letters, which other processes see; notices within seconds when the
  /// other side is gone, in both directions. Errors: unreachable [database-unreachable].
  static support::Result<std::unique_ptr<PostgresConnection>> open(const std::string& uri,
                                                                   const std::string& name);
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;
  ~PostgresConnection() override;

  std::unique_ptr<Cursor> prepare(const std::string& sql) override;
  support::Result<void> begin(const std::string& doing, Flush flush) override;
  support::Result<void> commit(const std::string& doing) override;
  void roll_back() override;
  support::Result<void> notify(const char* channel, const std::string& what) override;
  const Dialect& dialect() const override;

  /// Runs statements without parameters, one after the other.
  support::Result<void> execute(const std::string& statements, const std::string& doing);

  struct Notification {
    std::string channel, what;
    int sender = 0;  ///< process_number() of the connection that sent it
  };
  /// Reads without waiting; returns what arrived.
  std::vector<Notification> notifications();
  /// Returns true when the connection ended, as far as is known; reads without waiting.
  bool broken();
  int socket() const;
  int process_number() const;  ///< identifies the server's process

 private:
  explicit PostgresConnection(pg_conn* connection) : connection_(connection) {}
  pg_conn* const connection_;
  std::map<std::string, std::string> prepared_;  ///< names of prepared statements by their text
};

}  // namespace schaas::kernels_cache
