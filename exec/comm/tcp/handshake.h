#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/build_id.h"
#include "exec/core/communicator/communicator.h"

/// The steps by which a connection becomes one between two ranks of a job: the rank that is called
/// greets; the caller says which rank it is and proves that it knows the job's secret; the other
/// answers with a proof of its own, or refuses with a sentence. Both name their build, and go on
/// only with the same one. All sizes are fixed or bounded.
namespace debubble::exec::tcp {

namespace asio = boost::asio;
using Socket = asio::ip::tcp::socket;
using Acceptor = asio::ip::tcp::acceptor;
using Endpoint = asio::ip::tcp::endpoint;

/// A process as the others know it.
struct Member {
    int rank = 0;
    int ranks = 1;
    std::string secret;
    BuildId build = build_id();
};

/// Runs pending operations until `done`. Returns whether that was before the deadline.
template <class Done>
bool run_until(asio::io_context& io, Deadline deadline, const Done& done) {
    while (!done()) {
        if (Clock::now() >= deadline) return false;
        io.restart();
        io.run_one_until(deadline);
    }
    return true;
}

/// The result of a call.
struct Call {
    std::optional<Socket> socket;  ///< unset: nobody answered, and the call may be repeated
    std::string why;               ///< the reason, if unset
    /// Whether the answer came from a process that is not of this job.
    bool is_of_another = false;
};
/// The most time that a call takes: `greeted_by` limits the time until a rank of some job is known
/// to be there.
struct CallLimits {
    Deadline greeted_by;
    Deadline answered_by;
};
/// Calls rank `to` at `address`; `port` is where this process listens. Throws WorldError if a rank
/// of this job is there but runs another build, or refuses.
Call call(asio::io_context& io, const std::vector<Endpoint>& address, const Member& me, int to,
          std::uint16_t port, const CallLimits& limits);

/// Admits the expected ranks and refuses strangers, each within its own time limit.
class Reception : public std::enable_shared_from_this<Reception> {
public:
    struct Guest {
        Socket socket;
        std::uint16_t port = 0;  ///< port at which it listens
    };

    Reception(Acceptor acceptor, Member me, std::set<int> expected);
    /// Starts to let ranks in; called once, and it works while `io` runs. Earlier callers wait in
    /// the kernel's queue: none is judged before the job's secret is known.
    void open(const std::string& secret);
    void close();

    bool complete() const { return expected_.empty(); }
    const std::set<int>& expected() const { return expected_; }  ///< ranks that have not come
    std::map<int, Guest>& guests() { return guests_; }
    std::uint16_t port() const { return port_; }
    /// A text such as "; 2 strangers were refused, the last since ..."; empty if there were none.
    std::string refusals() const;
    /// A sentence if a proven rank of this job came and runs another build, so that the job cannot
    /// start; else empty.
    const std::string& other_build() const { return other_build_; }

private:
    struct Caller;
    void accept_next();
    bool make_room();
    void greet(const std::shared_ptr<Caller>& caller);
    void judge(const std::shared_ptr<Caller>& caller);
    void answer(const std::shared_ptr<Caller>& caller, const std::string& refusal);
    void refused(const std::string& why);

    Acceptor acceptor_;
    Member me_;
    std::set<int> expected_;
    std::map<int, Guest> guests_;
    std::uint16_t port_ = 0;
    std::set<std::shared_ptr<Caller>> callers_;
    std::uint64_t came_ = 0;
    int refused_ = 0;
    std::string last_refusal_;
    std::string other_build_;
};

}  // namespace debubble::exec::tcp
