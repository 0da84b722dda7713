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
#include "exec/comm/processes/control.h"
#include "exec/comm/processes/last_resort.h"
#include "exec/comm/processes/wire.h"
#include "exec/core/communicator/communicator.h"

/// The communication thread of a rank. All other threads hand it operations and wait, so that
/// communication overlaps the rank's computation.
///
/// It has a rendezvous of its own: the sender announces a chunk (small chunks are sent with the
/// announcement), the receiver asks for it, then the bytes go from memory to memory. So the wire
/// never holds a buffer of a rank that waits in vain, and a wait that fails may free the buffer.
namespace debubble::exec::processes {

using local::Terms;

struct PeerChunk {
    int peer = 0;                ///< global rank of the other end
    std::span<std::byte> bytes;  ///< written if the chunk is incoming, else only read
};

/// One communication of this rank: phases of chunks. Each phase starts with a function that may
/// compute on the bytes received in the phase before it.
struct Operation {
    struct Phase {
        std::function<void()> begin;
        std::vector<PeerChunk> out;
        std::vector<PeerChunk> in;
    };
    OperationKey key;
    Terms terms;
    std::string description;  ///< such as "2RECV_F3 from rank 0"
    std::vector<Phase> phases;

    // The members from here on are guarded by the engine's mutex.
    std::size_t phase = 0;
    /// Peers of the phase's chunks that are not done, one entry per chunk.
    std::vector<int> open;
    std::vector<int> missing;  ///< peers that have not arrived, one entry per chunk
    bool done = false;
    Interval when;
};

/// A function that joins the job; the thread that will use the wire calls it.
using OpenWire = std::function<std::unique_ptr<Wire>()>;

/// The time limits of an engine's waits for others. A wait that exceeds them ends the process with
/// a sentence and exit code 3 where it cannot end in another way.
struct Patience {
    /// The wait for the others to come, and to part.
    std::chrono::nanoseconds for_others = std::chrono::minutes(5);
    std::chrono::nanoseconds for_goodbyes = std::chrono::seconds(3);  ///< after a failure
    /// The wait for moves to end after a failure.
    std::chrono::nanoseconds for_moves = std::chrono::seconds(3);
    /// The time that a rank which has only heard of a failure waits in addition: the rank that
    /// found it is to end the job and to say why.
    std::chrono::nanoseconds after_finder = std::chrono::seconds(1);
    /// The wait for the wire, in addition to any of these.
    std::chrono::nanoseconds for_wire = std::chrono::seconds(5);
};

class MessageEngine final : private Wire::Listener {
public:
    /// Sentences call this process `name` before it has joined. Throws what `open` throws.
    MessageEngine(const OpenWire& open, const Patience& patience,
                  const std::string& name = "this process");
    ~MessageEngine();
    MessageEngine(const MessageEngine&) = delete;
    MessageEngine& operator=(const MessageEngine&) = delete;

    int rank() const { return rank_; }
    int ranks() const { return ranks_; }

    void start(const std::shared_ptr<Operation>& operation);
    Interval wait(Operation& operation, Deadline deadline);
    bool done(Operation& operation);
    void leave(Operation& operation);
    void fail(const std::string& sentence);

private:
    using Lock = std::unique_lock<std::mutex>;
    using PeerOperation = std::pair<int, OperationKey>;  ///< peer and key
    struct Announcement;
    struct Incoming {
        std::shared_ptr<Operation> operation;
        PeerChunk chunk;
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
    void chunk_done(const std::shared_ptr<Operation>& operation, int peer);
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
    std::unique_ptr<Wire> wire_;  ///< belongs to the thread
    std::mutex mutex_;
    std::condition_variable changed_;  ///< wakes the threads that wait
    bool up_ = false;
    std::exception_ptr not_up_;
    bool closing_ = false;
    std::set<int> gone_;  ///< peers that need nothing more, or that are lost
    std::set<int> lost_;  ///< the lost ones of them
    std::optional<std::string> failure_;
    bool is_told_ = false;        ///< another rank has found the failure
    bool untold_ = false;         ///< the other ranks have not been informed of it
    bool abandoned_ = false;      ///< the wire has been informed of it
    bool cannot_let_go_ = false;  ///< moves do not end, and their memory cannot be freed
    std::vector<std::shared_ptr<Operation>> fresh_;
    std::map<PeerOperation, Incoming> expected_;
    std::map<PeerOperation, Announcement> announced_;
    /// Chunks announced here and not asked for yet, by id.
    std::map<std::uint64_t, Incoming> offered_;
    std::map<Wire::Ticket, Move> moving_;
    std::uint64_t next_id_ = 0;
    Wire::Ticket next_ticket_ = 0;
    std::thread thread_;
};

/// The communicator of all processes that the wire joins. Sentences call this process `name` before
/// it has joined. Throws what `open` throws.
std::unique_ptr<Communicator> join_world(const OpenWire& open, const Patience& patience,
                                         const std::string& name = "this process");

}  // namespace debubble::exec::processes
