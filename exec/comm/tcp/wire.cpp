#include "exec/comm/tcp/connection.h"

#include <chrono>
#include <utility>
#include <variant>

#include <netinet/tcp.h>

#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>

#include "base/overloaded.h"

namespace debubble::exec::tcp {

namespace {

constexpr auto kRest = std::chrono::milliseconds(100);
constexpr int kSilence = 60'000;  ///< milliseconds of silence after which a host is lost

void watch(Socket& socket) {
    socket.set_option(asio::socket_base::keep_alive(true));
    const auto set = [&](int option, int value) {
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
    };
    set(TCP_KEEPIDLE, 20);  // seconds
    set(TCP_KEEPINTVL, 10);
    set(TCP_KEEPCNT, 4);
    set(TCP_USER_TIMEOUT, kSilence);
}

class TcpWire final : public processes::Wire {
public:
    TcpWire(std::unique_ptr<asio::io_context> io, int rank, std::map<int, Socket> peers)
        : io_(std::move(io)), rank_(rank) {
        for (auto& [peer, socket] : peers) {
            watch(socket);
            connections_.try_emplace(peer, peer, std::move(socket), events_);
        }
        for (auto& [peer, connection] : connections_) connection.read();
    }

    int rank() const override { return rank_; }
    int ranks() const override { return static_cast<int>(connections_.size()) + 1; }

    void post(int peer, std::vector<std::byte> message) override {
        connections_.at(peer).post(std::move(message));
    }
    void move_out(int peer, std::uint64_t id, std::span<const std::byte> bytes,
                  Ticket ticket) override {
        connections_.at(peer).move_out(id, bytes, ticket);
    }
    void move_in(int peer, std::uint64_t id, std::span<std::byte> bytes, Ticket ticket) override {
        connections_.at(peer).move_in(id, bytes, ticket);
    }
    /// The receiver hears of the failure, and ends its moves itself.
    void refuse(int, std::uint64_t, std::size_t) override {}
    void abandon() override {
        for (auto& [peer, connection] : connections_) connection.abandon();
    }

    bool step(Listener& listener) override {
        const std::vector<Event> events = std::exchange(events_, {});
        for (const Event& event : events) {
            std::visit(
                Overloaded{[&](const Arrived& it) { listener.on_message(event.peer, it.message); },
                           [&](const Moved& it) { listener.on_moved(it.ticket, it.whole); },
                           [&](const Lost& it) { listener.on_lost(event.peer, it.how); }},
                event.what);
        }
        return !events.empty();
    }
    bool idle() const override {
        for (const auto& [peer, connection] : connections_)
            if (!connection.idle()) return false;
        return true;
    }
    /// All sending and receiving takes place while the engine rests.
    void rest() override {
        for (auto& [peer, connection] : connections_) connection.flush();
        io_->restart();
        if (events_.empty()) io_->run_one_for(kRest);
        io_->poll();
    }
    void wake() override {
        asio::post(*io_, [] {});
    }
    void end() override {
        for (auto& [peer, connection] : connections_) connection.close();
    }
    void break_off(const std::string&) override { end(); }

private:
    std::unique_ptr<asio::io_context> io_;  ///< outlives the sockets
    int rank_;
    std::vector<Event> events_;
    std::map<int, Connection> connections_;
};

}  // namespace

std::unique_ptr<processes::Wire> make_wire(std::unique_ptr<asio::io_context> io, int rank,
                                           std::map<int, Socket> peers) {
    return std::make_unique<TcpWire>(std::move(io), rank, std::move(peers));
}

}  // namespace debubble::exec::tcp
