#pragma once

#include <map>
#include <memory>

#include "exec/comm/processes/wire.h"
#include "exec/comm/tcp/handshake.h"

namespace debubble::exec::tcp {

/// Messages and moves over non-blocking connections, one to each peer. Large moves go in pieces, so
/// that messages can overtake them.
std::unique_ptr<processes::Wire> make_wire(std::unique_ptr<asio::io_context> io, int rank,
                                           std::map<int, Socket> peers);

}  // namespace debubble::exec::tcp
