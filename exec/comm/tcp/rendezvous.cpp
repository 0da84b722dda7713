#include "exec/comm/tcp/rendezvous.h"

#include <algorithm>
#include <array>
#include <thread>

#include <fcntl.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "exec/comm/tcp/handshake_words.h"

namespace debubble::exec::tcp {

namespace {

using asio::ip::address_v4;
using asio::ip::address_v6;
using boost::system::error_code;
constexpr auto kBetweenCalls = std::chrono::milliseconds(50);
/// The time for a greeting at an address from a file, which may be that of an earlier job.
constexpr auto kForAGreeting = std::chrono::seconds(3);

/// The place where a rank listens, as it is sent. An empty address means the host of rank 0, which
/// every rank knows by an address of its own.
struct ListenAddress {
    /// An address of IP version 6, or one of version 4 mapped into it.
    std::array<std::uint8_t, 16> address{};
    std::uint16_t port = 0;
    std::uint8_t is_on_host_of_0 = 0;
    std::uint8_t reserved = 0;
};

class Rendezvous {
public:
    Rendezvous(asio::io_context& io, const TcpJob& job)
        : io_(io),
          job_(job),
          me_{job.rank, job.ranks, job.secret, job.build},
          deadline_(within(job.patience)) {}

    std::map<int, Socket> meet() {
        job_.rank == 0 ? host() : join();
        for (auto& [rank, socket] : peers_) {
            socket.set_option(asio::ip::tcp::no_delay(true));
            socket.non_blocking(true);
        }
        return std::move(peers_);
    }

private:
    /// The part of rank 0: lets all others in, then tells each where all listen.
    void host() {
        Acceptor acceptor = job_.listening >= 0 ? inherited() : listen(job_.port);
        {
            const std::optional<WrittenMeeting> told =
                job_.file.empty() ? std::nullopt : tell_by_file(acceptor);
            expect_guests(std::move(acceptor), 1);
            reception_->open(me_.secret);
            wait_for_guests();
        }
        std::vector<ListenAddress> places(job_.ranks);
        for (auto& [rank, guest] : reception_->guests()) {
            const auto address = plain(guest.socket.remote_endpoint().address());
            const auto here = plain(guest.socket.local_endpoint().address());
            ListenAddress& place = places[rank];
            place.port = guest.port;
            // A host's own name may mean 127.0.1.1, while calls come from 127.0.0.1.
            place.is_on_host_of_0 = address.is_loopback() || address == here;
            place.address = as_v6(address).to_bytes();
        }
        take_guests();
        for (auto& [rank, socket] : peers_) {
            error_code error;
            asio::write(socket, asio::buffer(places), error);
            if (error) lost(rank, error);
        }
    }

    /// The part of the others: call rank 0, hear from it, call the lower ranks and let in the
    /// higher ones.
    void join() {
        std::vector<Endpoint> address;
        std::string why = "it has not written its file";
        // Listening starts before the first call, since the call names the port.
        expect_guests(listen(0), job_.rank + 1);
        while (!try_rank_0(address, why)) {
            if (Clock::now() + kBetweenCalls > deadline_)
                throw WorldError(fmt::format("rank {} waited {:.3g} s for rank 0 {}: {}", job_.rank,
                                             patience_s(), where(), why));
            std::this_thread::sleep_for(kBetweenCalls);
        }
        std::vector<ListenAddress> places(job_.ranks);
        std::optional<error_code> heard;
        Socket& to_0 = peers_.at(0);
        asio::async_read(to_0, asio::buffer(places),
                         [&](const error_code& error, std::size_t) { heard = error; });
        if (!run_until(io_, deadline_, [&] { return heard.has_value(); })) {
            error_code ignored;
            to_0.close(ignored);
            io_.restart();
            io_.poll();
            throw WorldError(fmt::format(
                "rank {} waited {:.3g} s for rank 0 {}: rank 0 is there, but other ranks are not",
                job_.rank, patience_s(), where()));
        }
        if (*heard) lost(0, *heard);
        const auto address_of_0 = to_0.remote_endpoint().address();
        for (int rank = 1; rank < job_.rank; ++rank) {
            const ListenAddress& place = places[rank];
            const Endpoint there{place.is_on_host_of_0
                                     ? address_of_0
                                     : plain(asio::ip::address(address_v6(place.address))),
                                 place.port};
            peers_.emplace(rank, reach(rank, there));
        }
        wait_for_guests();
        take_guests();
    }

    /// The rank listens, or this rank would not have heard of it; yet a network may lose a call, or
    /// refuse one while many arrive.
    Socket reach(int rank, const Endpoint& there) {
        for (;;) {
            Call answer = call(io_, {there}, me_, rank, reception_->port(), {deadline_, deadline_});
            if (answer.socket) return std::move(*answer.socket);
            if (answer.is_of_another) throw WorldError(answer.why);
            if (Clock::now() + kBetweenCalls > deadline_)
                throw WorldError(fmt::format("rank {} cannot reach rank {} at {}:{}: {}", job_.rank,
                                             rank, there.address().to_string(), there.port(),
                                             answer.why));
            // Meanwhile others may be calling this rank.
            run_until(io_, within(kBetweenCalls), [] { return false; });
        }
    }

    std::optional<WrittenMeeting> tell_by_file(const Acceptor& acceptor) {
        if (job_.file_is_held && read_meeting(job_.file, true))
            throw WorldError(fmt::format(
                "another job of this user meets at {}: give each job its own MASTER_PORT",
                job_.file.string()));
        const std::string secret = fresh_secret();
        me_.secret += secret;
        return write_meeting(job_.file, {stays_here() ? "127.0.0.1" : asio::ip::host_name(),
                                         acceptor.local_endpoint().port(), secret});
    }

    bool try_rank_0(std::vector<Endpoint>& address, std::string& why) {
        Member me = me_;
        std::string host = job_.host;
        int port = job_.port;
        if (!job_.file.empty()) {
            const auto meeting = read_meeting(job_.file, job_.file_is_held);
            if (!meeting) return false;
            host = meeting->host;
            port = meeting->port;
            me.secret += meeting->secret;
        }
        address = resolve(host, port, why);
        if (address.empty()) return false;
        const bool by_file = !job_.file.empty();
        for (const Endpoint& there : address) {
            const Deadline greeted_by =
                by_file ? std::min(deadline_, within(kForAGreeting)) : deadline_;
            Call answer = call(io_, {there}, me, 0, reception_->port(), {greeted_by, deadline_});
            why = answer.why;
            if (answer.is_of_another && !by_file) throw WorldError(why);
            if (!answer.socket) continue;
            peers_.emplace(0, std::move(*answer.socket));
            me_ = me;
            reception_->open(me_.secret);
            return true;
        }
        return false;
    }

    std::vector<Endpoint> resolve(const std::string& host, int port, std::string& why) {
        asio::ip::tcp::resolver resolver(io_);
        error_code error;
        std::vector<Endpoint> found;
        for (const auto& entry : resolver.resolve(host, std::to_string(port), error))
            found.push_back(entry.endpoint());
        if (error) why = fmt::format("{}: {}", host, error.message());
        return found;
    }

    /// Whether this process listens only where no other host can reach it, because none needs to.
    bool stays_here() const {
        return job_.one_host &&
               (!job_.file.empty() || job_.host == "127.0.0.1" || job_.host == "localhost");
    }
    Acceptor listen(int port) {
        Acceptor acceptor(io_);
        error_code error;
        acceptor.open(asio::ip::tcp::v6(), error);
        const bool both = !stays_here() && !error;  // IP version 6, and version 4 mapped into it
        if (!both) {
            error_code ignored;
            acceptor.close(ignored);
            acceptor.open(asio::ip::tcp::v4());
        }
        if (both) acceptor.set_option(asio::ip::v6_only(false));
        acceptor.set_option(Acceptor::reuse_address(true));
        const auto here = stays_here() ? asio::ip::address(address_v4::loopback())
                          : both       ? asio::ip::address(address_v6::any())
                                       : asio::ip::address(address_v4::any());
        acceptor.bind({here, static_cast<std::uint16_t>(port)}, error);
        if (!error) acceptor.listen(Acceptor::max_listen_connections, error);
        if (error)
            throw WorldError(fmt::format(
                "rank {} cannot listen on port {}: {}{}", job_.rank, port, error.message(),
                job_.one_host ? "" : "; set DEBUBBLE_PORT to another port on all hosts"));
        return acceptor;
    }
    Acceptor inherited() {
        error_code error;
        Acceptor acceptor(io_);
        acceptor.assign(asio::ip::tcp::v4(), job_.listening, error);
        if (!error) acceptor.local_endpoint(error);
        if (error)
            throw WorldError(fmt::format("rank {} cannot open a socket to listen on: {}", job_.rank,
                                         error.message()));
        // Children of this process do not need the socket.
        ::fcntl(job_.listening, F_SETFD, FD_CLOEXEC);
        return acceptor;
    }

    void expect_guests(Acceptor acceptor, int first) {
        std::set<int> expected;
        for (int rank = first; rank < job_.ranks; ++rank) expected.insert(rank);
        reception_ = std::make_shared<Reception>(std::move(acceptor), me_, std::move(expected));
    }
    void wait_for_guests() {
        const auto is_decided = [&] {
            return reception_->complete() || !reception_->other_build().empty();
        };
        const bool in_time = run_until(io_, deadline_, is_decided);
        if (!reception_->other_build().empty()) throw WorldError(reception_->other_build());
        if (in_time) return;
        const auto& missing = reception_->expected();
        throw WorldError(fmt::format("rank {} waited {:.3g} s for rank{} {} to join it{}{}",
                                     job_.rank, patience_s(), missing.size() == 1 ? "" : "s",
                                     fmt::join(missing, ", "), job_.rank == 0 ? " " + where() : "",
                                     reception_->refusals()));
    }
    void take_guests() {
        for (auto& [rank, guest] : reception_->guests())
            peers_.emplace(rank, std::move(guest.socket));
        reception_->close();
    }

    [[noreturn]] void lost(int rank, const error_code& error) const {
        throw WorldError(fmt::format("rank {} has lost rank {} while the ranks of the job met: {}",
                                     job_.rank, rank, error.message()));
    }
    double patience_s() const { return std::chrono::duration<double>(job_.patience).count(); }
    std::string where() const {
        if (job_.file_is_held)
            return fmt::format(
                "by the file {} (all ranks of a host need the same TMPDIR and XDG_RUNTIME_DIR)",
                job_.file.string());
        if (!job_.file.empty()) return fmt::format("by the file {}", job_.file.string());
        return fmt::format("at {}:{}", job_.host,
                           job_.rank == 0 ? static_cast<int>(reception_->port()) : job_.port);
    }

    static address_v6 as_v6(const asio::ip::address& address) {
        return address.is_v6() ? address.to_v6()
                               : asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4());
    }
    /// The address as one of version 4, if it is mapped into version 6.
    static asio::ip::address plain(const asio::ip::address& address) {
        if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }

    asio::io_context& io_;
    const TcpJob& job_;
    Member me_;
    Deadline deadline_;
    std::shared_ptr<Reception> reception_;
    std::map<int, Socket> peers_;
};

}  // namespace

std::map<int, Socket> meet(asio::io_context& io, const TcpJob& job) {
    return Rendezvous(io, job).meet();
}

}  // namespace debubble::exec::tcp
