#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "exec/comm/tcp/handshake.h"
#include "exec/comm/tcp/handshake_words.h"

namespace debubble::exec::tcp {

namespace {

using boost::system::error_code;
constexpr std::size_t kMostVisits = 256;  ///< at once, strangers included
constexpr auto kTimeOfAVisit = std::chrono::seconds(10);
constexpr auto kAfterAnError = std::chrono::milliseconds(10);

}  // namespace

struct Reception::Visit {
    explicit Visit(Socket connection)
        : socket(std::move(connection)), timer(socket.get_executor()) {}
    Socket socket;
    asio::steady_timer timer;
    std::uint64_t number = 0;  ///< in the order they came
    bool is_proven = false;    ///< that it belongs to this job
    Greeting greeting;
    Hello hello;
    std::vector<std::byte> verdict;
};

Reception::Reception(Acceptor acceptor, Member me, std::set<int> expected)
    : acceptor_(std::move(acceptor)),
      me_(std::move(me)),
      expected_(std::move(expected)),
      port_(acceptor_.local_endpoint().port()) {}

void Reception::open(const std::string& secret) {
    me_.secret = secret;
    accept_next();
}

void Reception::close() {
    error_code ignored;
    acceptor_.close(ignored);
    for (const auto& visit : visits_) {
        visit->socket.close(ignored);
        visit->timer.cancel();
    }
    visits_.clear();
}

void Reception::accept_next() {
    acceptor_.async_accept([self = shared_from_this()](const error_code& error, Socket socket) {
        if (!self->acceptor_.is_open()) return;
        if (error) std::this_thread::sleep_for(kAfterAnError);  // such as too many open files
        if (!error && self->make_room()) self->greet(std::make_shared<Visit>(std::move(socket)));
        self->accept_next();
    });
}

/// Strangers who fill the place and say nothing shall not keep the job's ranks out.
bool Reception::make_room() {
    if (visits_.size() < kMostVisits) return true;
    std::shared_ptr<Visit> oldest;
    for (const auto& visit : visits_)
        if (!visit->is_proven && (!oldest || visit->number < oldest->number)) oldest = visit;
    if (!oldest) return false;
    visits_.erase(oldest);
    error_code ignored;
    oldest->socket.close(ignored);  // ends what it is about
    oldest->timer.cancel();
    refused("too many others came after it");
    return true;
}

void Reception::greet(const std::shared_ptr<Visit>& visit) {
    visit->number = came_++;
    visits_.insert(visit);
    visit->timer.expires_after(kTimeOfAVisit);
    visit->timer.async_wait([visit](const error_code& error) {
        error_code ignored;
        if (!error) visit->socket.close(ignored);  // ends what it is about
    });
    visit->greeting.build = me_.build;
    visit->greeting.nonce = fresh_nonce();
    const auto heard = [self = shared_from_this(), visit](const error_code& error, std::size_t) {
        if (!error) return self->judge(visit);
        visit->timer.cancel();
        if (self->visits_.erase(visit) > 0) self->refused("it said nothing in time");
    };
    asio::async_write(visit->socket, asio::buffer(&visit->greeting, sizeof visit->greeting),
                      [visit, heard](const error_code& error, std::size_t size) {
                          if (error) return heard(error, size);
                          asio::async_read(visit->socket,
                                           asio::buffer(&visit->hello, sizeof visit->hello), heard);
                      });
}

void Reception::judge(const std::shared_ptr<Visit>& visit) {
    const Hello& hello = visit->hello;
    const int from = static_cast<int>(hello.from);
    std::string refusal;
    if (!is_ours(hello)) {
        refusal = "it speaks another protocol";
    } else if (!same(hello.proof, proof_of(me_.secret, hello, visit->greeting.nonce))) {
        refusal = kOfAnotherJob;
    } else if (hello.build != me_.build) {
        refusal = fmt::format("it is of build {} of debubble, and rank {} of build {}",
                              short_form(hello.build), me_.rank, short_form(me_.build));
        other_build_ = fmt::format(
            "rank {} cannot join: {}; all ranks of a job run the same program", from, refusal);
    } else if (static_cast<int>(hello.ranks) != me_.ranks) {
        refusal = fmt::format("this job has {} ranks, and the caller's {}", me_.ranks, hello.ranks);
    } else if (static_cast<int>(hello.to) != me_.rank || hello.port > 0xffff) {
        refusal = fmt::format("this is rank {}, and it calls rank {}", me_.rank, hello.to);
    } else if (guests_.contains(from)) {
        refusal = fmt::format("rank {} is here already", from);
    } else if (!expected_.contains(from)) {
        refusal = fmt::format("rank {} is not expected here", from);
    }
    visit->is_proven = refusal.empty();
    answer(visit, refusal);
}

void Reception::answer(const std::shared_ptr<Visit>& visit, const std::string& refusal) {
    Verdict verdict;
    verdict.accepted = refusal.empty() ? 1 : 0;
    verdict.refusal =
        static_cast<std::uint32_t>(std::min<std::size_t>(refusal.size(), kLongestRefusal));
    if (refusal.empty()) verdict.proof = answer_to(me_.secret, visit->hello.proof);
    visit->verdict.resize(sizeof verdict + verdict.refusal);
    std::memcpy(visit->verdict.data(), &verdict, sizeof verdict);
    std::memcpy(visit->verdict.data() + sizeof verdict, refusal.data(), verdict.refusal);
    asio::async_write(
        visit->socket, asio::buffer(visit->verdict),
        [self = shared_from_this(), visit, refusal](const error_code& error, std::size_t) {
            visit->timer.cancel();
            if (self->visits_.erase(visit) == 0) return;
            if (!refusal.empty()) return self->refused(refusal);
            const int from = static_cast<int>(visit->hello.from);
            if (error || !self->expected_.contains(from)) return;
            self->expected_.erase(from);
            self->guests_.emplace(from, Guest{std::move(visit->socket),
                                              static_cast<std::uint16_t>(visit->hello.port)});
        });
}

void Reception::refused(const std::string& why) {
    ++refused_;
    last_refusal_ = why;
}

std::string Reception::refusals() const {
    if (refused_ == 0) return "";
    return refused_ == 1 ? fmt::format("; a stranger was refused, since {}", last_refusal_)
                         : fmt::format("; {} strangers were refused, the last since {}", refused_,
                                       last_refusal_);
}

}  // namespace debubble::exec::tcp
