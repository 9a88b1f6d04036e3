#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "compiler/support/digest.h"
#include "compiler/support/result.h"

namespace schaas::client {

/// A shared object mapped from bytes that were checked; unloaded with the last copy. Thread-safe.
class SharedObject {
 public:
  /// Nothing of the bytes is loaded before their digest is `expected`; they are mapped from memory, never
  /// from a path that others may write. Errors: invalid [kernel-digest], [kernel-binary] (not loadable).
  static support::Result<SharedObject> load(std::string_view bytes, const support::Digest& expected);
  /// Null when there is none of the name.
  void* symbol(const char* name) const;

 private:
  struct Handle;
  explicit SharedObject(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<const Handle> handle_;
};

/// invalid [kernel-binary].
support::Diagnostic bad_binary(const std::string& why);

}  // namespace schaas::client
