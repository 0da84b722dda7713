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
constexpr std::size_t kMostCallers = 256;  ///< most callers at once, strangers included
constexpr auto kTimeOfACaller = std::chrono::seconds(10);
constexpr auto kAfterAnError = std::chrono::milliseconds(10);

}  // namespace

struct Reception::Caller {
    explicit Caller(Socket connection)
        : socket(std::move(connection)), timer(socket.get_executor()) {}
    Socket socket;
    asio::steady_timer timer;
    std::uint64_t number = 0;  ///< order in which they came
    bool is_proven = false;    ///< whether the caller has proven that it belongs to this job
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
    for (const auto& caller : callers_) {
        caller->socket.close(ignored);
        caller->timer.cancel();
    }
    callers_.clear();
}

void Reception::accept_next() {
    acceptor_.async_accept([self = shared_from_this()](const error_code& error, Socket socket) {
        if (!self->acceptor_.is_open()) return;
        // An error such as too many open files.
        if (error) std::this_thread::sleep_for(kAfterAnError);
        if (!error && self->make_room()) self->greet(std::make_shared<Caller>(std::move(socket)));
        self->accept_next();
    });
}

/// Strangers who occupy all places and stay silent must not keep the job's ranks out.
bool Reception::make_room() {
    if (callers_.size() < kMostCallers) return true;
    std::shared_ptr<Caller> oldest;
    for (const auto& caller : callers_)
        if (!caller->is_proven && (!oldest || caller->number < oldest->number)) oldest = caller;
    if (!oldest) return false;
    callers_.erase(oldest);
    error_code ignored;
    oldest->socket.close(ignored);  // ends the caller's operations
    oldest->timer.cancel();
    refused("too many other callers came after it");
    return true;
}

void Reception::greet(const std::shared_ptr<Caller>& caller) {
    caller->number = came_++;
    callers_.insert(caller);
    caller->timer.expires_after(kTimeOfACaller);
    caller->timer.async_wait([caller](const error_code& error) {
        error_code ignored;
        if (!error) caller->socket.close(ignored);  // ends the caller's operations
    });
    caller->greeting.build = me_.build;
    caller->greeting.nonce = fresh_nonce();
    const auto heard = [self = shared_from_this(), caller](const error_code& error, std::size_t) {
        if (!error) return self->judge(caller);
        caller->timer.cancel();
        if (self->callers_.erase(caller) > 0) self->refused("it did not identify itself in time");
    };
    asio::async_write(caller->socket, asio::buffer(&caller->greeting, sizeof caller->greeting),
                      [caller, heard](const error_code& error, std::size_t size) {
                          if (error) return heard(error, size);
                          asio::async_read(caller->socket,
                                           asio::buffer(&caller->hello, sizeof caller->hello),
                                           heard);
                      });
}

void Reception::judge(const std::shared_ptr<Caller>& caller) {
    const Hello& hello = caller->hello;
    const int from = static_cast<int>(hello.from);
    std::string refusal;
    if (!is_ours(hello)) {
        refusal = "it speaks another protocol";
    } else if (!same(hello.proof, proof_of(me_.secret, hello, caller->greeting.nonce))) {
        refusal = kOfAnotherJob;
    } else if (hello.build != me_.build) {
        refusal = fmt::format("it runs build {} of debubble, and rank {} runs build {}",
                              short_form(hello.build), me_.rank, short_form(me_.build));
        other_build_ = fmt::format(
            "rank {} cannot join: {}; all ranks of a job must run the same build", from, refusal);
    } else if (static_cast<int>(hello.ranks) != me_.ranks) {
        refusal = fmt::format("this job has {} ranks, and the caller's job has {}", me_.ranks,
                              hello.ranks);
    } else if (static_cast<int>(hello.to) != me_.rank || hello.port > 0xffff) {
        refusal = fmt::format("this is rank {}, and it calls rank {}", me_.rank, hello.to);
    } else if (guests_.contains(from)) {
        refusal = fmt::format("rank {} is here already", from);
    } else if (!expected_.contains(from)) {
        refusal = fmt::format("rank {} is not expected here", from);
    }
    caller->is_proven = refusal.empty();
    answer(caller, refusal);
}

void Reception::answer(const std::shared_ptr<Caller>& caller, const std::string& refusal) {
    Verdict verdict;
    verdict.accepted = refusal.empty() ? 1 : 0;
    verdict.refusal =
        static_cast<std::uint32_t>(std::min<std::size_t>(refusal.size(), kLongestRefusal));
    if (refusal.empty()) verdict.proof = answer_to(me_.secret, caller->hello.proof);
    caller->verdict.resize(sizeof verdict + verdict.refusal);
    std::memcpy(caller->verdict.data(), &verdict, sizeof verdict);
    std::memcpy(caller->verdict.data() + sizeof verdict, refusal.data(), verdict.refusal);
    asio::async_write(
        caller->socket, asio::buffer(caller->verdict),
        [self = shared_from_this(), caller, refusal](const error_code& error, std::size_t) {
            caller->timer.cancel();
            if (self->callers_.erase(caller) == 0) return;
            if (!refusal.empty()) return self->refused(refusal);
            const int from = static_cast<int>(caller->hello.from);
            if (error || !self->expected_.contains(from)) return;
            self->expected_.erase(from);
            self->guests_.emplace(from, Guest{std::move(caller->socket),
                                              static_cast<std::uint16_t>(caller->hello.port)});
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
