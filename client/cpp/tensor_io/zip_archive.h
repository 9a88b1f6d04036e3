#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::client {

/// A zip archive (PKWARE's APPNOTE, with its 64-bit extension) in memory, as numpy writes .npz files.
class ZipArchive {
 public:
  /// `path` is for messages. Errors: invalid [npz-damaged].
  static support::Result<ZipArchive> of(std::string bytes, std::string path);
  std::vector<std::string> names() const;
  bool has(const std::string& name) const { return find(name) != nullptr; }
  /// The content of a member. Errors: invalid [npz-damaged]; unsupported [npz-member] (encrypted, or
  /// compressed in another way than by deflate), [compression-library].
  support::Result<std::string> content(const std::string& name) const;

 private:
  struct Member {
    std::string name;
    std::uint32_t flags = 0, method = 0, checksum = 0;
    std::uint64_t stored = 0, size = 0, offset = 0;
  };
  ZipArchive(std::string bytes, std::string path) : bytes_(std::move(bytes)), path_(std::move(path)) {}
  const Member* find(const std::string& name) const;
  support::Result<void> read_directory();
  support::Diagnostic damaged(const std::string& why) const;

  std::string bytes_, path_;
  std::vector<Member> members_;
};

/// An archive of stored members. Errors: unsupported [npz-size] beyond 4 GiB.
support::Result<std::string> zip(const std::vector<std::pair<std::string, std::string>>& members,
                                 const std::string& path);

}  // namespace schaas::client
