#pragma once
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "compiler/support/result.h"

/// Claims: something that only one thread of all processes works on.
namespace schaas::kernels_cache {

/// Held until destroyed. A claim ends early where its process loses its way to the database.
class Claim {
 public:
  virtual ~Claim() = default;
  /// Returns true when somebody else may hold it by now.
  virtual bool lost() const = 0;
};

/// Thread-safe.
class Claims {
 public:
  virtual ~Claims() = default;
  /// Returns null when somebody holds the claim already. Errors: unreachable [database-unreachable].
  virtual support::Result<std::unique_ptr<Claim>> try_take(const std::string& key) = 0;
  /// Returns those of the keys that nobody holds at this time; one question for all. Errors: those of
  /// `try_take`.
  virtual support::Result<std::vector<std::string>> not_held(std::vector<std::string> keys) = 0;
};

/// Claims of this process alone, for databases that no other uses.
class ProcessClaims final : public Claims {
 public:
  support::Result<std::unique_ptr<Claim>> try_take(const std::string& key) override {
    {
      const std::lock_guard lock(held_->mutex);
      if (!held_->keys.insert(key).second) return std::unique_ptr<Claim>();
    }
    return std::unique_ptr<Claim>(std::make_unique<Held>(held_, key));
  }
  support::Result<std::vector<std::string>> not_held(std::vector<std::string> keys) override {
    const std::lock_guard lock(held_->mutex);
    std::erase_if(keys, [this](const std::string& key) { return held_->keys.count(key) != 0; });
    return keys;
  }

 private:
  struct Keys {
    std::mutex mutex;
    std::set<std::string> keys;
  };
  class Held final : public Claim {
   public:
    Held(std::shared_ptr<Keys> held, std::string key) : held_(std::move(held)), key_(std::move(key)) {}
    ~Held() override {
      const std::lock_guard lock(held_->mutex);
      held_->keys.erase(key_);
    }
    bool lost() const override { return false; }

   private:
    const std::shared_ptr<Keys> held_;
    const std::string key_;
  };
  const std::shared_ptr<Keys> held_ = std::make_shared<Keys>();
};

}  // namespace schaas::kernels_cache
