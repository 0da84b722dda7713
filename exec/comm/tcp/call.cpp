#include <algorithm>

#include <fmt/format.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "exec/comm/tcp/handshake.h"
#include "exec/comm/tcp/handshake_words.h"

namespace debubble::exec::tcp {

namespace {

using boost::system::error_code;

/// Starts an operation with a handler, and waits. Returns an error if the deadline passes first.
template <class Start>
error_code finish(asio::io_context& io, Socket& socket, Deadline deadline, const Start& start) {
    std::optional<error_code> result;
    start([&](const error_code& error, const auto&...) { result = error; });
    const auto done = [&] { return result.has_value(); };
    if (!run_until(io, deadline, done)) {
        error_code ignored;
        socket.close(ignored);
        run_until(io, within(std::chrono::seconds(10)), done);  // the operation ends as aborted
        return asio::error::timed_out;
    }
    return *result;
}

template <class Word>
error_code read(asio::io_context& io, Socket& socket, Word& word, Deadline deadline) {
    return finish(io, socket, deadline, [&](auto handler) {
        asio::async_read(socket, asio::buffer(&word, sizeof word), handler);
    });
}

/// The text of a stranger as one line of printable characters.
std::string printable(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c < ' ' || c > '~'; }, ' ');
    return text;
}

/// The sentence that follows a refusal.
std::string reason_of(asio::io_context& io, Socket& socket, const Verdict& verdict,
                      Deadline deadline) {
    std::string why(std::min(verdict.refusal, kLongestRefusal), ' ');
    const error_code error = finish(io, socket, deadline, [&](auto handler) {
        asio::async_read(socket, asio::buffer(why), handler);
    });
    return error ? "no reason was given" : printable(why);
}

}  // namespace

Call call(asio::io_context& io, const std::vector<Endpoint>& address, const Member& me, int to,
          std::uint16_t port, const CallLimits& limits) {
    Socket socket(io);
    error_code error = finish(io, socket, limits.greeted_by,
                              [&](auto handler) { asio::async_connect(socket, address, handler); });
    if (error) return {std::nullopt, error.message()};
    const std::string where =
        fmt::format("{}:{}", address[0].address().to_string(), address[0].port());
    Greeting greeting;
    error = read(io, socket, greeting, limits.greeted_by);
    if (error) return {std::nullopt, "the connection was made, but no greeting came"};
    if (!is_ours(greeting))
        return {
            std::nullopt,
            fmt::format("the program that listens at {} is not a rank of this version of debubble",
                        where),
            true};
    Hello hello;
    hello.build = me.build;
    hello.from = static_cast<std::uint32_t>(me.rank);
    hello.to = static_cast<std::uint32_t>(to);
    hello.ranks = static_cast<std::uint32_t>(me.ranks);
    hello.port = port;
    hello.nonce = fresh_nonce();
    hello.proof = proof_of(me.secret, hello, greeting.nonce);
    error = finish(io, socket, limits.answered_by, [&](auto handler) {
        asio::async_write(socket, asio::buffer(&hello, sizeof hello), handler);
    });
    Verdict verdict;
    if (!error) error = read(io, socket, verdict, limits.answered_by);
    const bool is_refused = !error && verdict.accepted != 1;
    const std::string refusal =
        is_refused ? reason_of(io, socket, verdict, limits.answered_by) : "";
    const bool is_of_another = refusal == kOfAnotherJob;
    if (greeting.build != me.build) {  // the other end has received this process's build, too
        const std::string sentence = fmt::format(
            "rank {} at {} runs build {} of debubble, and rank {} runs build {}: all ranks of a "
            "job must run the same build",
            to, where, short_form(greeting.build), me.rank, short_form(me.build));
        if (is_of_another) return {std::nullopt, sentence, true};
        throw WorldError(sentence);
    }
    if (error) return {std::nullopt, fmt::format("no answer to a hello: {}", error.message())};
    if (is_refused) {
        const std::string sentence = fmt::format("rank {} of the job at {} has refused rank {}: {}",
                                                 to, where, me.rank, refusal);
        if (is_of_another) return {std::nullopt, sentence, true};
        throw WorldError(sentence);
    }
    if (!same(verdict.proof, answer_to(me.secret, hello.proof)))
        return {
            std::nullopt,
            fmt::format("the program that listens at {} does not know this job's secret", where),
            true};
    return {std::move(socket), ""};
}

}  // namespace debubble::exec::tcp
