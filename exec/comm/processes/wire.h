#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace debubble::exec::processes {

/// The transport of bytes between the processes of a job: messages of the engine, in order for each
/// peer, and moves from memory to memory that both ends have agreed on. One thread calls everything
/// but wake(). Ranks are global.
class Wire {
public:
    /// The number of a move at this end.
    using Ticket = std::uint64_t;

    /// The receiver of events; called from step() alone.
    class Listener {
    public:
        virtual void on_message(int peer, std::span<const std::byte> message) = 0;
        /// The memory of the move is no longer touched. If not `whole`, the other end gave it up.
        virtual void on_moved(Ticket ticket, bool whole) = 0;
        /// Nothing more will arrive from that peer. `how` is a text such as "its connection was
        /// closed".
        virtual void on_lost(int peer, const std::string& how) = 0;

    protected:
        ~Listener() = default;
    };

    virtual ~Wire() = default;
    virtual int rank() const = 0;
    virtual int ranks() const = 0;

    virtual void post(int peer, std::vector<std::byte> message) = 0;
    /// The two ends of a move identify it by the sender and the sender's `id`. The receiver asks
    /// for it before the sender starts.
    virtual void move_out(int peer, std::uint64_t id, std::span<const std::byte> bytes,
                          Ticket ticket) = 0;
    virtual void move_in(int peer, std::uint64_t id, std::span<std::byte> bytes, Ticket ticket) = 0;
    /// Tells a receiver that a move of this many bytes will not come.
    virtual void refuse(int peer, std::uint64_t id, std::size_t bytes) = 0;
    /// Called when the job has failed: ends the moves in flight where that is possible.
    virtual void abandon() = 0;

    /// Hands over the events since the last call, and tells whether there were any.
    virtual bool step(Listener& listener) = 0;
    /// Whether all posted messages and all moves have left.
    virtual bool idle() const = 0;
    /// Waits until something may have come, or for a moment.
    virtual void rest() = 0;
    /// Ends the current rest, or else the next one. Any thread may call it.
    virtual void wake() = 0;

    /// Closes the wire once every rank has all that it needs.
    virtual void end() = 0;
    /// A rank is gone, or does not answer: the job ends as well as it can. Where that ends this
    /// process too, the sentence is printed and the exit code is 3.
    virtual void break_off(const std::string& sentence) = 0;
};

}  // namespace debubble::exec::processes
