#include "schedule/transport.h"

#include <algorithm>

namespace debubble {

std::optional<Transport> transport_named(std::string_view name) {
    const auto* const found = std::ranges::find(kTransports, name, &NamedTransport::name);
    return found == kTransports.end() ? std::nullopt : std::optional(found->transport);
}

std::string_view name_of(Transport transport) {
    const auto* const found = std::ranges::find(kTransports, transport, &NamedTransport::transport);
    return found == kTransports.end() ? "buffered" : found->name;
}

}  // namespace debubble
