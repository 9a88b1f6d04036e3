#pragma once
#include <string>

namespace schaas::server {

/// Tells the service manager that started this process (systemd, Type=notify) "READY=1", "STOPPING=1",
/// "RELOADING=1" or "STATUS=...", by the socket it named in NOTIFY_SOCKET; does nothing when there is none.
/// sd_notify(3).
void tell_service_manager(const std::string& state);

}  // namespace schaas::server
