#include "client/cpp/api/converted_result.h"

#include <cstring>

#include "client/cpp/platform/team.h"
#include "schaas/convert.h"

// Results in a storage that kernels do not write. The first run converts. From the second run on a list of
// positions brings the values over (tensor/stored_copy.h), since the entries stay. A caller that moves the
// tensor away gets a fresh conversion, which the address of its values tells.
namespace schaas::client {

PackedTensor& ConvertedResult::tensor() {
  if (target_ != nullptr) return *target_;
  return again_ ? again_->tensor() : first_;
}

support::Result<void> ConvertedResult::copy_values(const PackedTensor& written) {
  if (target_->on_device()) return gpu_->gpu.copy_values(written, *target_, gpu_->stream);
  if (written.values().bytes() > 0)
    std::memcpy(target_->values().data(), written.values().data(), written.values().bytes());
  return {};
}

support::Result<void> ConvertedResult::bring(const PackedTensor& written, int threads) {
  if (target_ != nullptr && written.format() == format_) return copy_values(written);
  const ConvertOptions options{name_, threads};
  const bool same_entries = values_ != nullptr && tensor().values().data() == values_;
  if (target_ != nullptr || !same_entries) {
    again_.reset();
    SCHAAS_ASSIGN_OR_RETURN(tensor(), convert(written, format_, options));
    values_ = tensor().values().data();
    return {};
  }
  if (!again_) {
    SCHAAS_ASSIGN_OR_RETURN(again_, StoredCopy::make(written, format_, options));
    first_ = {};
    values_ = again_->tensor().values().data();
  }
  Team::at_most(threads).run_shares([&](int part, int parts) { again_->refresh(part, parts); });
  return {};
}

}  // namespace schaas::client
