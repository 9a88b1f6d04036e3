#include "server/storage/database_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "kernels_cache/job_schema.h"
#include "kernels_cache/postgres/postgres.h"
#include "kernels_cache/schedule_schema.h"

// The file is a secret like a signing key: one that others may read is refused, not mended. Its text appears
// in no message.
namespace schaas::server {

using support::Result;

Result<std::string> read_database_file(const std::string& path) {
  const auto cannot_read = [&path] {
    return support::invalid("database", "cannot read `" + path + "`: " + std::strerror(errno));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return cannot_read();
  struct stat status {};
  std::array<char, 4096> text{};
  const bool known = ::fstat(file, &status) == 0;
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  if (!known || got < 0) return cannot_read();
  if ((status.st_mode & 077) != 0) {
    return support::noting(
        support::invalid("database", "others than its owner may read or write `" + path + "`"),
        "`chmod 600 " + path + "`; when somebody may have read it, change the password");
  }
  std::string uri(text.data(), static_cast<std::size_t>(got));
  while (!uri.empty() && (uri.back() == '\n' || uri.back() == '\r' || uri.back() == ' ')) uri.pop_back();
  if (uri.starts_with("postgresql://") || uri.starts_with("postgres://")) return uri;
  return support::invalid("database",
                          "`" + path + "` holds no connection string; expected postgresql://USER@HOST/NAME");
}

Result<std::shared_ptr<kernels_cache::Database>> open_shared_database(const std::string& path,
                                                                      const std::string& role) {
  SCHAAS_ASSIGN_OR_RETURN(const std::string uri, read_database_file(path));
  return kernels_cache::open_postgres(
      uri, {kernels_cache::postgres_schedule_schema(), kernels_cache::postgres_job_schema()}, role);
}

}  // namespace schaas::server
