#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "exec/comm/processes/wire.h"
#include "exec/comm/tcp/handshake.h"

/// The wire over TCP: a connection to each peer, and the frames that it carries.
namespace debubble::exec::tcp {

/// The head before everything that is sent.
struct Frame {
    enum class Kind : std::uint32_t { Message = 1, Chunk = 2 };
    Kind kind{};
    std::uint32_t size = 0;  ///< bytes that follow
    std::uint64_t id = 0;    ///< the sender's id of the move whose next chunk follows
};
inline constexpr std::uint32_t kLargestChunk = 1 << 20;
inline constexpr std::uint32_t kLargestMessage = 1 << 20;

/// An event of a peer: a message that has come, or the end of a move to or from it.
struct Arrived {
    std::vector<std::byte> message;
};
struct Moved {
    processes::Wire::Ticket ticket = 0;
    bool whole = false;
};
struct Lost {
    std::string how;
};
struct Event {
    int peer = 0;
    std::variant<Arrived, Moved, Lost> what;
};

/// The connection to one peer. One thread uses it; events are appended to `events`.
class Connection {
public:
    using Ticket = processes::Wire::Ticket;
    Connection(int peer, Socket socket, std::vector<Event>& events);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void post(std::vector<std::byte> message);
    void move_out(std::uint64_t id, std::span<const std::byte> bytes, Ticket ticket);
    void move_in(std::uint64_t id, std::span<std::byte> bytes, Ticket ticket);
    void abandon();
    bool idle() const {
        return !socket_.is_open() || (!out_ && messages_.empty() && out_moves_.empty());
    }

    /// Writes what the socket takes, and goes on once it takes more.
    void flush();
    /// Reads from this call on, as long as the context runs.
    void read();
    void close();

private:
    struct OutMove {
        std::uint64_t id = 0;
        std::span<const std::byte> rest;
        Ticket ticket = 0;
    };
    struct InMove {
        std::span<std::byte> rest;
        Ticket ticket = 0;
    };
    struct Outgoing {
        Frame frame;
        std::vector<std::byte> owned;     ///< a message, or the rest of an abandoned chunk
        std::span<const std::byte> body;  ///< where the bytes are
        std::size_t sent = 0;             ///< bytes of frame and body that are sent
        std::optional<Ticket> last_of;    ///< the move that ends with this chunk
    };
    struct Incoming {
        Frame frame;
        std::size_t got = 0;  ///< bytes of frame and body that are read
        std::vector<std::byte> message;
        /// Memory for the chunk, while it is wanted.
        std::optional<std::span<std::byte>> target;
    };

    bool next_outgoing();
    bool begin_body();
    void end_body();
    bool receive_some(std::size_t& received);
    void receive_all();
    void lost(const std::string& how);

    int peer_;
    Socket socket_;
    std::vector<Event>& events_;
    std::deque<std::vector<std::byte>> messages_;
    std::deque<OutMove> out_moves_;
    std::map<std::uint64_t, InMove> in_moves_;
    std::optional<Outgoing> out_;
    Incoming in_;
    std::vector<std::byte> scrap_;  ///< memory for unwanted bytes
    bool abandoned_ = false;
    bool waits_to_write_ = false;
};

/// Messages and moves over non-blocking connections, one to each peer. Large moves are sent in
/// chunks, so that messages can overtake them.
std::unique_ptr<processes::Wire> make_wire(std::unique_ptr<asio::io_context> io, int rank,
                                           std::map<int, Socket> peers);

}  // namespace debubble::exec::tcp
