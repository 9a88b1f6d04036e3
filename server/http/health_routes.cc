#include "server/http/health_routes.h"

#include <utility>

namespace schaas::server {

std::vector<HttpRoute> health_routes(std::shared_ptr<const Metrics> metrics, std::function<bool()> is_ready) {
  constexpr const char* exposition = "text/plain; version=0.0.4; charset=utf-8";
  constexpr const char* plain = "text/plain; charset=utf-8";
  return {
      {"/metrics",
       [metrics = std::move(metrics)](const HttpRequest&) {
         return HttpResponse{200, exposition, metrics->text()};
       }},
      {"/healthz",
       [](const HttpRequest&) {
         return HttpResponse{200, plain, "ok\n"};
       }},
      {"/readyz", [is_ready = std::move(is_ready)](const HttpRequest&) {
         return is_ready() ? HttpResponse{200, plain, "ready\n"} : HttpResponse{503, plain, "not ready\n"};
       }}};
}

}  // namespace schaas::server
