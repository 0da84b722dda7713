#include "exec/comm/transports.h"

#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

#include "exec/comm/processes/engine.h"
#include "exec/comm/tcp/connection.h"
#include "exec/comm/tcp/handshake_words.h"
#include "exec/comm/tcp/rendezvous.h"

namespace debubble::exec {

std::unique_ptr<Communicator> connect_tcp(const TcpJob& job) {
    const auto open = [&job] {
        auto io = std::make_unique<tcp::asio::io_context>(1);
        auto peers = tcp::meet(*io, job);
        return tcp::make_wire(std::move(io), job.rank, std::move(peers));
    };
    return processes::join_world(open, {.for_others = job.patience});
}

TcpListener listen_here() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    auto* const address = reinterpret_cast<sockaddr*>(&here);
    if (descriptor < 0 || ::bind(descriptor, address, size) != 0 ||
        ::listen(descriptor, SOMAXCONN) != 0 || ::getsockname(descriptor, address, &size) != 0)
        throw WorldError(std::string("this host has no socket to listen on: ") +
                         std::strerror(errno));
    return {descriptor, ntohs(here.sin_port)};
}

std::string fresh_job_secret() {
    return tcp::fresh_secret();
}

}  // namespace debubble::exec
