#include "kernels_cache/fleet_key.h"

namespace schaas::kernels_cache {

support::Result<void> agree_on_key(Database& database, const std::string& public_key) {
  const std::string doing = "read the key of the fleet";
  SCHAAS_ASSIGN_OR_RETURN(const Session session, database.session());
  SCHAAS_RETURN_IF_ERROR(
      Statement(*session, "INSERT INTO fleet(public_key) VALUES ($1) ON CONFLICT DO NOTHING")
          .bind(public_key)
          .run(doing));
  Statement query(*session, "SELECT public_key FROM fleet");
  SCHAAS_RETURN_IF_ERROR(query.step(doing));
  if (query.text(0) == public_key) return {};
  return support::noting(
      support::invalid("signing-key-differs", "kernels in the database are signed with " + query.text(0) +
                                                  ", this server's key is " + public_key),
      "give every server the same --signing-key; docs/fleet.md says how to change it");
}

}  // namespace schaas::kernels_cache
