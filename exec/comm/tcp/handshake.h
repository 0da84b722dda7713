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

/// How a connection becomes one between two ranks of a job: the one who is called greets, the
/// caller says who it is and proves that it knows the job's secret, the other answers with a
/// proof of its own or refuses with a sentence. Both say of which build they are, and go on with
/// their own alone. All sizes are fixed or bounded.
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

/// Runs what is under way until `done`; whether that came before the deadline.
template <class Done>
bool run_until(asio::io_context& io, Deadline deadline, const Done& done) {
    while (!done()) {
        if (Clock::now() >= deadline) return false;
        io.restart();
        io.run_one_until(deadline);
    }
    return true;
}

/// What came of a call.
struct Call {
    std::optional<Socket> socket;  ///< unset: nobody answered, and it may be tried again
    std::string why;               ///< then
    bool is_of_another = false;    ///< whoever is there belongs to another job, or to none
};
/// How long a call lasts at most: `greeted_by` until it is known that a rank of some job is there.
struct CallLimits {
    Deadline greeted_by;
    Deadline answered_by;
};
/// Calls rank `to`, whose address this is; `port` is where this process listens. Throws
/// WorldError if a rank of this job is there and of another build, or refuses.
Call call(asio::io_context& io, const std::vector<Endpoint>& address, const Member& me, int to,
          std::uint16_t port, const CallLimits& limits);

/// Lets the ranks in that are expected, and refuses strangers, each in its own time.
class Reception : public std::enable_shared_from_this<Reception> {
public:
    struct Guest {
        Socket socket;
        std::uint16_t port = 0;  ///< where it listens
    };

    Reception(Acceptor acceptor, Member me, std::set<int> expected);
    /// Once; from then on it works while `io` runs. Who called before waits in the kernel's queue:
    /// nobody is judged before the job's secret is known.
    void open(const std::string& secret);
    void close();

    bool complete() const { return expected_.empty(); }
    const std::set<int>& expected() const { return expected_; }  ///< who has not come
    std::map<int, Guest>& guests() { return guests_; }
    std::uint16_t port() const { return port_; }
    /// "; 2 strangers were refused, the last since ..."; empty if there was none.
    std::string refusals() const;
    /// A rank of this job, as it has proven, came and is of another build, so that the job cannot
    /// come together: a sentence. Empty: there was none.
    const std::string& other_build() const { return other_build_; }

private:
    struct Visit;
    void accept_next();
    bool make_room();
    void greet(const std::shared_ptr<Visit>& visit);
    void judge(const std::shared_ptr<Visit>& visit);
    void answer(const std::shared_ptr<Visit>& visit, const std::string& refusal);
    void refused(const std::string& why);

    Acceptor acceptor_;
    Member me_;
    std::set<int> expected_;
    std::map<int, Guest> guests_;
    std::uint16_t port_ = 0;
    std::set<std::shared_ptr<Visit>> visits_;
    std::uint64_t came_ = 0;
    int refused_ = 0;
    std::string last_refusal_;
    std::string other_build_;
};

}  // namespace debubble::exec::tcp
