#include "server/health_routes.h"

#include <utility>

namespace schaas::server {

std::vector<HttpRoute> health_routes(std::shared_ptr<const Metrics> metrics, std::function<bool()> is_ready) {
  constexpr const char* exposition = "text/plain; version=0.0.4; charset=utf-8";
  constexpr const char* plain = "text/plain; charset=utf-8";
  return {{"/metrics",
           [metrics = std::move(metrics)](const HttpAsked&) {
             return HttpReply{200, exposition, metrics->text()};
           }},
          {"/healthz",
           [](const HttpAsked&) {
             return HttpReply{200, plain, "ok\n"};
           }},
          {"/readyz", [is_ready = std::move(is_ready)](const HttpAsked&) {
             return is_ready() ? HttpReply{200, plain, "ready\n"} : HttpReply{503, plain, "not ready\n"};
           }}};
}

}  // namespace schaas::server
