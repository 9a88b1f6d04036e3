#pragma once
#include <string>

#include "compiler/support/result.h"

namespace schaas::toolchain {

/// A fresh directory that only this user can enter; it and everything in it is removed with the object.
class TemporaryDirectory {
 public:
  /// Under `parent`, or the system's when empty. Errors: exhausted [temporary-directory].
  static support::Result<TemporaryDirectory> make(const std::string& parent);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace schaas::toolchain
