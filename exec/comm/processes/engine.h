#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exec/comm/local/meeting.h"
#include "exec/comm/processes/last_resort.h"
#include "exec/comm/processes/place.h"
#include "exec/comm/processes/wire.h"
#include "exec/core/communicator/communicator.h"

/// The thread of a rank that communicates. All else hands it operations and waits, so that
/// messages move while the rank computes.
///
/// Own rendezvous: the sender announces a piece (small ones travel with the announcement),
/// the receiver asks for it, then the bytes go from memory to memory. The wire thus never
/// holds a buffer of a rank that waits in vain, and a wait that fails may free it.
namespace debubble::exec::processes {

using local::Terms;

struct Piece {
    int peer = 0;                ///< global rank
    std::span<std::byte> bytes;  ///< written if incoming, else only read
};

/// One communication of this rank: phases of pieces, each phase begun by a function that
/// may compute on what the one before it brought.
struct Operation {
    struct Phase {
        std::function<void()> begin;
        std::vector<Piece> out;
        std::vector<Piece> in;
    };
    Place place;
    Terms terms;
    std::string description;  ///< "2RECV_F3 from rank 0"
    std::string content;      ///< "a message of 64 bytes of fp32"
    std::vector<Phase> phases;

    // Guarded by the engine's mutex.
    std::size_t phase = 0;
    std::vector<int> open;     ///< peers of the phase's pieces that are not through, one per piece
    std::vector<int> missing;  ///< peers that have not come, one entry per piece
    bool done = false;
    Interval when;
};

/// Joins the job; called on the thread that will use the wire.
using OpenWire = std::function<std::unique_ptr<Wire>()>;

/// How long an engine bears with others. What lasts longer ends the process with a sentence
/// and exit code 3 where it cannot end otherwise.
struct Patience {
    std::chrono::nanoseconds for_others = std::chrono::minutes(5);    ///< to come, and to part
    std::chrono::nanoseconds for_goodbyes = std::chrono::seconds(3);  ///< of a job that has failed
    std::chrono::nanoseconds for_moves = std::chrono::seconds(3);     ///< to end after a failure
    /// More, of who has heard of a failure: who has found it is to end the job, and to say why.
    std::chrono::nanoseconds after_finder = std::chrono::seconds(1);
    std::chrono::nanoseconds for_wire = std::chrono::seconds(5);  ///< beyond any of these
};

class Engine final : private Wire::Listener {
public:
    /// `name` is how sentences call this process before it has joined. Throws what `open` throws.
    Engine(const OpenWire& open, const Patience& patience,
           const std::string& name = "this process");
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    int rank() const { return rank_; }
    int ranks() const { return ranks_; }

    void start(const std::shared_ptr<Operation>& operation);
    Interval wait(Operation& operation, Deadline deadline);
    bool done(Operation& operation);
    void leave(Operation& operation);
    void fail(const std::string& sentence);

private:
    using Lock = std::unique_lock<std::mutex>;
    using Meeting = std::pair<int, Place>;  ///< peer and place
    struct Announcement;
    struct Incoming {
        std::shared_ptr<Operation> operation;
        Piece piece;
    };

    void run(const OpenWire& open);
    bool step();
    void rest(Lock& lock);
    void say_goodbye(Lock& lock);
    bool hear_goodbyes(Lock& lock);
    void part(bool orderly);
    void on_message(int peer, std::span<const std::byte> message) override;
    void on_moved(Wire::Ticket ticket, bool whole) override;
    void on_lost(int peer, const std::string& how) override;
    void tell_failure();
    void begin_phase(const std::shared_ptr<Operation>& operation);
    void accept(Announcement&& announcement);
    void match(const Incoming& incoming, Announcement&& announcement);
    void met(Operation& operation, int peer);
    void serve(const Announcement& ask);
    void piece_done(const std::shared_ptr<Operation>& operation, int peer);
    Wire::Ticket moves(const std::shared_ptr<Operation>& operation, int peer);
    void throw_if_failed(Lock& lock, Operation& operation);
    void let_go(Lock& lock, const Operation& operation);
    void fail_locked(const std::string& sentence, bool tell);

    struct Move {
        std::shared_ptr<Operation> operation;
        int peer = 0;
    };

    Patience patience_;
    LastResort last_resort_;
    int rank_ = 0;
    int ranks_ = 0;
    std::unique_ptr<Wire> wire_;  ///< the thread's
    std::mutex mutex_;
    std::condition_variable bell_;  ///< for who waits
    bool up_ = false;
    std::exception_ptr not_up_;
    bool closing_ = false;
    std::set<int> gone_;  ///< peers that need nothing more, or that are lost
    std::set<int> lost_;  ///< of those, the latter
    std::optional<std::string> failure_;
    bool is_told_ = false;        ///< another rank has found the failure
    bool untold_ = false;         ///< the other ranks do not know of it
    bool abandoned_ = false;      ///< the wire knows of it
    bool cannot_let_go_ = false;  ///< moves do not end, and memory cannot be freed under them
    std::vector<std::shared_ptr<Operation>> fresh_;
    std::map<Meeting, Incoming> expected_;
    std::map<Meeting, Announcement> announced_;
    std::map<std::uint64_t, Incoming> offered_;  ///< by id: announced, not asked for yet
    std::map<Wire::Ticket, Move> moving_;
    std::uint64_t next_id_ = 0;
    Wire::Ticket next_ticket_ = 0;
    std::thread thread_;
};

}  // namespace debubble::exec::processes
