#pragma once

#include <map>

#include "exec/comm/tcp.h"
#include "exec/comm/tcp/handshake.h"

namespace debubble::exec::tcp {

/// Meets all other ranks: a connection to each, by rank. Throws WorldError.
std::map<int, Socket> meet(asio::io_context& io, const TcpJob& job);

/// What a rendezvous file says. Written aside and renamed, readable by its owner alone.
struct Meeting {
    std::string host;
    int port = 0;
    std::string secret;
};
void write_meeting(const std::filesystem::path& file, const Meeting& meeting);
/// Unset if there is none, or it is no such file.
std::optional<Meeting> read_meeting(const std::filesystem::path& file);

}  // namespace debubble::exec::tcp
