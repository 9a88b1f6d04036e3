#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "schaas/tensor.h"

namespace schaas::test_support {

/// What a program besides the client does with the driver of tests/gpu/fake_driver.c: memory, copies,
/// streams. The driver is loaded already.
class FakeDevice {
 public:
  using Address = std::uint64_t;
  explicit FakeDevice(void* driver) : driver_(driver) {}
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;
  ~FakeDevice() {
    for (const Address address : allocated_) call<int(Address)>("cuMemFree_v2", address);
  }

  template <class T>
  T& variable(const char* name) const {
    return *static_cast<T*>(dlsym(driver_, name));
  }

  /// The same tensor on the device.
  client::PackedTensor bring(const client::PackedTensor& tensor) {
    schaas_tensor view = tensor.view();
    auto& levels = levels_.emplace_back(view.levels, view.levels + view.order);
    for (std::size_t l = 0; l < levels.size(); ++l) {
      levels[l].pos = bring(tensor.levels()[l].pos);
      levels[l].crd = bring(tensor.levels()[l].crd);
    }
    view.levels = levels.data();
    view.values = bring(tensor.values());
    return client::borrow_on_device(view, "T", tensor.fill_value()).value();
  }
  void* bring(const client::Buffer& array) {
    if (array.bytes() == 0) return nullptr;
    Address address = 0;
    call<int(Address*, std::size_t)>("cuMemAlloc_v2", &address, array.bytes());
    allocated_.push_back(address);
    copy(reinterpret_cast<void*>(address), array.data(), array.bytes(), nullptr);
    return reinterpret_cast<void*>(address);
  }
  int copy(void* to, const void* from, std::size_t bytes, void* stream) const {
    return call<int(Address, Address, std::size_t, void*)>("cuMemcpyAsync", reinterpret_cast<Address>(to),
                                                           reinterpret_cast<Address>(from), bytes, stream);
  }
  /// Brought back on the null stream, or on another, without waiting for it.
  std::vector<double> values(const client::PackedTensor& tensor) const {
    std::vector<double> out(static_cast<std::size_t>(tensor.stored()));
    copy(out.data(), tensor.values().data(), 8 * out.size(), nullptr);
    return out;
  }

  void* make_stream() const {
    void* stream = nullptr;
    call<int(void**, unsigned)>("cuStreamCreate", &stream, 0U);
    return stream;
  }
  void end_stream(void* stream) const { call<int(void*)>("cuStreamDestroy_v2", stream); }
  void wait_for(void* stream) const { call<int(void*)>("cuStreamSynchronize", stream); }
  bool has_current_context() const {
    void* context = nullptr;
    reinterpret_cast<int (*)(void**)>(dlsym(driver_, "cuCtxGetCurrent"))(&context);
    return context != nullptr;
  }

 private:
  /// With the context current, and gone again.
  template <class Function, class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    void* context = nullptr;
    reinterpret_cast<int (*)(void**, int)>(dlsym(driver_, "cuDevicePrimaryCtxRetain"))(&context, 0);
    reinterpret_cast<int (*)(void*)>(dlsym(driver_, "cuCtxPushCurrent_v2"))(context);
    const int status = reinterpret_cast<Function*>(dlsym(driver_, name))(arguments...);
    reinterpret_cast<int (*)(void**)>(dlsym(driver_, "cuCtxPopCurrent_v2"))(&context);
    return status;
  }

  void* const driver_;
  std::vector<Address> allocated_;
  std::deque<std::vector<schaas_level>> levels_;
};

}  // namespace schaas::test_support
