#include "exec/comm/tcp/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <boost/asio/post.hpp>

namespace debubble::exec::tcp {

namespace {

using boost::system::error_code;
/// Bytes at a time; then the other connections have their turn.
constexpr std::size_t kAtOnce = 8 << 20;
constexpr const char* kNoMessage = "it has sent bytes that are not a message of this program";

/// The other end is gone, whether this is seen when reading or when writing.
std::string words(const error_code& error) {
    const bool is_closed = error == asio::error::eof || error == asio::error::connection_reset ||
                           error == asio::error::broken_pipe;
    return is_closed ? "its connection was closed" : error.message();
}

}  // namespace

Connection::Connection(int peer, Socket socket, std::vector<Event>& events)
    : peer_(peer), socket_(std::move(socket)), events_(events) {}

void Connection::post(std::vector<std::byte> message) {
    if (socket_.is_open()) messages_.push_back(std::move(message));
}

void Connection::move_out(std::uint64_t id, std::span<const std::byte> bytes, Ticket ticket) {
    if (abandoned_ || !socket_.is_open()) {
        events_.push_back({peer_, Moved{ticket, false}});
    } else {
        out_moves_.push_back({id, bytes, ticket});
    }
}

void Connection::move_in(std::uint64_t id, std::span<std::byte> bytes, Ticket ticket) {
    if (abandoned_ || !socket_.is_open()) {
        events_.push_back({peer_, Moved{ticket, false}});
    } else {
        in_moves_[id] = {bytes, ticket};
    }
}

/// The rest of a partly sent chunk is sent from a copy, so that messages can follow it.
void Connection::abandon() {
    abandoned_ = true;
    if (out_ && out_->owned.empty()) {
        out_->owned.assign(out_->body.begin(), out_->body.end());
        out_->body = out_->owned;
        if (const auto ticket = std::exchange(out_->last_of, {}))
            events_.push_back({peer_, Moved{*ticket, false}});
    }
    for (const OutMove& move : std::exchange(out_moves_, {}))
        events_.push_back({peer_, Moved{move.ticket, false}});
    for (const auto& [id, move] : std::exchange(in_moves_, {}))
        events_.push_back({peer_, Moved{move.ticket, false}});
    in_.target.reset();
}

bool Connection::next_outgoing() {
    Outgoing next;
    if (!messages_.empty()) {
        next.owned = std::move(messages_.front());
        messages_.pop_front();
        next.frame = {Frame::Kind::Message, static_cast<std::uint32_t>(next.owned.size()), 0};
        next.body = next.owned;
    } else if (!out_moves_.empty()) {
        OutMove& move = out_moves_.front();
        next.body = move.rest.first(std::min<std::size_t>(move.rest.size(), kLargestChunk));
        move.rest = move.rest.subspan(next.body.size());
        next.frame = {Frame::Kind::Chunk, static_cast<std::uint32_t>(next.body.size()), move.id};
        if (move.rest.empty()) {
            next.last_of = move.ticket;
            out_moves_.pop_front();
        }
    } else {
        return false;
    }
    out_ = std::move(next);
    return true;
}

void Connection::flush() {
    if (waits_to_write_) return;
    std::size_t written = 0;
    while (socket_.is_open() && (out_ || next_outgoing())) {
        const std::span frame = std::as_bytes(std::span(&out_->frame, 1));
        const std::size_t in_body = out_->sent < frame.size() ? 0 : out_->sent - frame.size();
        const auto head = frame.subspan(std::min(out_->sent, frame.size()));
        const auto body = out_->body.subspan(in_body);
        const std::array<asio::const_buffer, 2> buffers{asio::buffer(head.data(), head.size()),
                                                        asio::buffer(body.data(), body.size())};
        error_code error;
        const std::size_t size = socket_.write_some(buffers, error);
        out_->sent += size;
        written += size;
        if (error && error != asio::error::would_block) return lost(words(error));
        if (error || written > kAtOnce) break;
        if (out_->sent < frame.size() + out_->body.size()) continue;
        if (out_->last_of) events_.push_back({peer_, Moved{*out_->last_of, true}});
        out_.reset();
    }
    if (!socket_.is_open() || idle()) return;
    waits_to_write_ = true;
    socket_.async_wait(Socket::wait_write, [this](const error_code& error) {
        if (error == asio::error::operation_aborted) return;
        waits_to_write_ = false;
        flush();
    });
}

void Connection::read() {
    socket_.async_wait(Socket::wait_read, [this](const error_code& error) {
        if (error == asio::error::operation_aborted) return;
        receive_all();
        if (socket_.is_open()) read();
    });
}

void Connection::receive_all() {
    std::size_t received = 0;
    while (socket_.is_open() && received < kAtOnce && receive_some(received)) {
    }
}

/// Reads once into the memory where the next bytes belong. Returns false if there are none.
bool Connection::receive_some(std::size_t& received) {
    asio::mutable_buffer target;
    if (in_.got < sizeof(Frame)) {
        target = asio::buffer(reinterpret_cast<std::byte*>(&in_.frame) + in_.got,
                              sizeof(Frame) - in_.got);
    } else {
        const std::size_t at = in_.got - sizeof(Frame), left = in_.frame.size - at;
        if (in_.frame.kind == Frame::Kind::Message) {
            target = asio::buffer(in_.message.data() + at, left);
        } else if (in_.target) {
            target = asio::buffer(in_.target->data() + at, left);
        } else {
            scrap_.resize(64 << 10);
            target = asio::buffer(scrap_.data(), std::min(left, scrap_.size()));
        }
    }
    error_code error;
    const std::size_t size = socket_.read_some(asio::mutable_buffers_1(target), error);
    if (error == asio::error::would_block) return false;
    if (error) {
        lost(words(error));
        return false;
    }
    received += size;
    in_.got += size;
    if (in_.got == sizeof(Frame) && !begin_body()) {
        lost(kNoMessage);
        return false;
    }
    if (in_.got >= sizeof(Frame) && in_.got == sizeof(Frame) + in_.frame.size) end_body();
    return true;
}

/// Finds where the body belongs. Returns false if there can be no such frame.
bool Connection::begin_body() {
    if (in_.frame.kind == Frame::Kind::Message) {
        if (in_.frame.size > kLargestMessage) return false;
        in_.message.resize(in_.frame.size);
        return true;
    }
    if (in_.frame.kind != Frame::Kind::Chunk || in_.frame.size > kLargestChunk) return false;
    const auto found = in_moves_.find(in_.frame.id);
    if (found == in_moves_.end()) return abandoned_;
    InMove& move = found->second;
    if (in_.frame.size == 0 || in_.frame.size > move.rest.size()) return false;
    in_.target = move.rest.first(in_.frame.size);
    move.rest = move.rest.subspan(in_.frame.size);
    return true;
}

void Connection::end_body() {
    if (in_.frame.kind == Frame::Kind::Message) {
        events_.push_back({peer_, Arrived{std::move(in_.message)}});
    } else if (const auto found = in_moves_.find(in_.frame.id);
               found != in_moves_.end() && found->second.rest.empty()) {
        events_.push_back({peer_, Moved{found->second.ticket, true}});
        in_moves_.erase(found);
    }
    in_ = {};
}

/// Ends the moves that can no longer complete.
void Connection::lost(const std::string& how) {
    if (!socket_.is_open()) return;
    close();
    abandon();
    events_.push_back({peer_, Lost{how}});
}

void Connection::close() {
    error_code ignored;
    socket_.close(ignored);
}

}  // namespace debubble::exec::tcp
