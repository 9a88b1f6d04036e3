// Certificates, keys and authorities in PEM, with zero bytes between them; OpenSSL reads them.
#include "server/auth/credentials.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {

void one(std::string_view bytes) {
  server::TlsTexts texts;
  for (std::string* text : {&texts.certificate, &texts.key, &texts.client_ca}) {
    const auto end = std::min(bytes.find('\0'), bytes.size());
    *text = std::string(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  const auto checked =
      server::check_texts(texts, {"certificate", "key", texts.client_ca.empty() ? "" : "ca"});
  if (!checked.ok()) require(!support::render(checked.error()).empty());
}

}  // namespace schaas::fuzz
