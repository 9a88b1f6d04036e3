// Answers of a server that means ill, in the client.
#include <google/protobuf/stubs/logging.h>

#include "client/cpp/remote/marshalling.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {

void one(std::string_view bytes) {
  [[maybe_unused]] static const bool silent = (google::protobuf::SetLogHandler(nullptr), true);
  const int size = static_cast<int>(bytes.size());
  v1::ScheduleEvent event;
  if (event.ParseFromArray(bytes.data(), size)) (void)client::from_proto(event);
  v1::Diagnostic diagnostic;
  if (diagnostic.ParseFromArray(bytes.data(), size)) (void)support::render(client::from_proto(diagnostic));
}

}  // namespace schaas::fuzz
