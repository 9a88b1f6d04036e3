#pragma once
#include <string>

namespace schaas::server {

/// Notifies the service manager (systemd, Type=notify) through the socket in NOTIFY_SOCKET: "READY=1",
/// "STOPPING=1", "RELOADING=1" or "STATUS=...". Does nothing without a socket. sd_notify(3).
void tell_service_manager(const std::string& state);

}  // namespace schaas::server
