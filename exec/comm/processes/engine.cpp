#include "exec/comm/processes/engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "exec/comm/processes/control.h"

// The work of the engine on its own thread.
namespace debubble::exec::processes {

namespace {

using namespace std::chrono_literals;

/// Most bytes of a chunk that are sent with its announcement.
constexpr std::size_t kSmall = 4096;
constexpr std::size_t kLongest = 64 << 10;  ///< most bytes of a sentence that is sent

}  // namespace

namespace {

/// The terms of one chunk: the operation's, and its own size where chunks differ.
Terms terms_of(const Operation& operation, const PeerChunk& chunk) {
    Terms terms = operation.terms;
    if (terms.pattern == local::Pattern::AllToAll ||
        terms.pattern == local::Pattern::ReduceScatterUneven)
        terms.bytes = chunk.bytes.size();
    return terms;
}

}  // namespace

struct MessageEngine::Announcement {
    int peer = 0;
    Control control;
};

MessageEngine::MessageEngine(const OpenWire& open, const Patience& patience,
                             const std::string& name)
    : patience_(patience) {
    last_resort_.call_it(name);
    const LastResort::Limit limit(last_resort_,
                                  "the other ranks of its job to start (--deadline says how long)",
                                  within(patience.for_others + patience.for_wire));
    thread_ = std::thread([this, &open] { run(open); });
    Lock lock(mutex_);
    changed_.wait(lock, [&] { return up_ || not_up_; });
    if (!up_) {
        lock.unlock();
        thread_.join();
        std::rethrow_exception(not_up_);
    }
}

MessageEngine::~MessageEngine() {
    {
        const Lock lock(mutex_);
        closing_ = true;
    }
    wire_->wake();
    thread_.join();
}

void MessageEngine::run(const OpenWire& open) {
    std::unique_ptr<Wire> wire;
    std::exception_ptr not_up;
    try {
        wire = open();
    } catch (...) {
        not_up = std::current_exception();
    }
    Lock lock(mutex_);
    if (wire) {
        rank_ = wire->rank();
        ranks_ = wire->ranks();
        wire_ = std::move(wire);
        last_resort_.call_it(fmt::format("rank {}", rank_));
    }
    up_ = wire_ != nullptr;
    not_up_ = not_up;
    changed_.notify_all();
    if (!up_) return;
    while (!closing_ && !cannot_let_go_)
        if (!step()) rest(lock);
    if (!cannot_let_go_) return say_goodbye(lock);
    lock.unlock();
    part(false);
    end_process(*failure_);
}

void MessageEngine::rest(Lock& lock) {
    lock.unlock();
    wire_->rest();
    lock.lock();
}

/// Answers the other ranks until all have said that they need nothing more.
void MessageEngine::say_goodbye(Lock& lock) {
    step();
    for (int peer = 0; peer < ranks_; ++peer)
        if (peer != rank_) wire_->post(peer, pack({Word::Goodbye}, "", "", {}));
    const Clock::time_point asked = Clock::now();
    const bool all_heard = hear_goodbyes(lock);
    const bool has_failed = failure_.has_value();
    if (!all_heard && !has_failed) {
        std::vector<int> missing;
        for (int peer = 0; peer < ranks_; ++peer)
            if (peer != rank_ && !gone_.contains(peer)) missing.push_back(peer);
        const std::chrono::duration<double> waited = Clock::now() - asked;
        fail_locked(
            fmt::format("rank {} had finished and waited {:.3g} s for rank{} {} to finish", rank_,
                        waited.count(), missing.size() == 1 ? "" : "s", fmt::join(missing, ", ")),
            true);
        step();
    }
    lock.unlock();
    part(all_heard && lost_.empty());
    if (!all_heard && !has_failed) end_process(*failure_);
}

/// Whether all ranks have said so in time.
bool MessageEngine::hear_goodbyes(Lock& lock) {
    Deadline deadline = within(patience_.for_others);
    const auto is_over = [&] {
        return static_cast<int>(gone_.size()) == ranks_ - 1 && wire_->idle();
    };
    for (bool has_failed = false; !is_over();) {
        if (failure_ && !std::exchange(has_failed, true)) {
            const auto more = is_told_ ? patience_.after_finder : 0ns;
            deadline = std::min(deadline, within(patience_.for_goodbyes + more));
        }
        if (Clock::now() > deadline) return false;
        if (!step()) rest(lock);
    }
    return true;
}

/// Leaves the job, which may end the process.
void MessageEngine::part(bool orderly) {
    last_resort_.wire_works(within((orderly ? patience_.for_others : 0ns) + patience_.for_wire));
    orderly ? wire_->end() : wire_->break_off(*failure_);
    last_resort_.wire_has_returned();
}

bool MessageEngine::step() {
    last_resort_.wire_works(within(patience_.for_others + patience_.for_wire));
    if (untold_) tell_failure();
    if (failure_) {
        fresh_.clear();  // the buffers may be gone
        if (!std::exchange(abandoned_, true)) wire_->abandon();
    }
    const bool asked = !fresh_.empty();
    for (const auto& operation : std::exchange(fresh_, {})) begin_phase(operation);
    const bool came = wire_->step(*this);
    last_resort_.wire_has_returned();
    if (abandoned_ && moving_.empty()) changed_.notify_all();
    return came || asked;
}

void MessageEngine::start(const std::shared_ptr<Operation>& operation) {
    {
        const Lock lock(mutex_);
        if (failure_) return;
        fresh_.push_back(operation);
    }
    wire_->wake();
}

void MessageEngine::begin_phase(const std::shared_ptr<Operation>& operation) {
    Operation& op = *operation;
    for (;; ++op.phase) {
        if (op.phase == op.phases.size()) {
            op.done = true;
            op.when.end = Clock::now();
            if (op.when.begin == Clock::time_point{}) op.when.begin = op.when.end;
            changed_.notify_all();
            return;
        }
        const Operation::Phase& phase = op.phases[op.phase];
        if (phase.begin) {  // computes, for as long as that takes
            last_resort_.wire_has_returned();
            phase.begin();
            last_resort_.wire_works(within(patience_.for_others + patience_.for_wire));
        }
        if (!phase.out.empty() || !phase.in.empty()) break;
    }
    const Operation::Phase& phase = op.phases[op.phase];
    op.open.clear();
    for (const PeerChunk& chunk : phase.out) op.open.push_back(chunk.peer);
    for (const PeerChunk& chunk : phase.in) op.open.push_back(chunk.peer);
    op.missing = op.open;
    OperationKey key = op.key;
    if (key.kind < 0) key.kind -= static_cast<std::int32_t>(op.phase);

    for (const PeerChunk& chunk : phase.out) {
        const Terms terms = terms_of(op, chunk);
        Header header{Word::Announce, 0, key, terms, next_id_++};
        const bool small = chunk.bytes.size() <= kSmall;
        // A message that is sent with its announcement is in flight from this moment.
        if (small && op.terms.pattern == local::Pattern::Message) op.when.begin = Clock::now();
        wire_->post(chunk.peer, pack(header, op.description, local::to_text(terms),
                                     small ? chunk.bytes : std::span<std::byte>{}));
        offered_[header.id] = {operation, chunk};
    }
    for (const PeerChunk& chunk : phase.in) {
        const PeerOperation awaited{chunk.peer, key};
        if (const auto found = announced_.find(awaited); found != announced_.end()) {
            Announcement announcement = std::move(found->second);
            announced_.erase(found);
            match({operation, chunk}, std::move(announcement));
        } else {
            expected_[awaited] = {operation, chunk};
        }
    }
}

void MessageEngine::accept(Announcement&& announcement) {
    const PeerOperation awaited{announcement.peer, announcement.control.header.key};
    if (const auto found = expected_.find(awaited); found != expected_.end()) {
        Incoming incoming = std::move(found->second);
        expected_.erase(found);
        match(incoming, std::move(announcement));
    } else {
        announced_.emplace(awaited, std::move(announcement));
    }
}

void MessageEngine::match(const Incoming& incoming, Announcement&& announcement) {
    if (failure_) return;
    Operation& op = *incoming.operation;
    const Control& control = announcement.control;
    const Terms terms = terms_of(op, incoming.chunk);
    if (!(control.header.terms == terms)) {
        return fail_locked(fmt::format("rank {} takes {} for {}, but rank {} takes {} for {}",
                                       announcement.peer, control.description, control.content,
                                       rank_, op.description, local::to_text(terms)),
                           true);
    }
    Header ask{Word::Ask};
    ask.id = control.header.id;
    const std::span<std::byte> target = incoming.chunk.bytes;
    if (target.size() > kSmall) {
        wire_->move_in(announcement.peer, ask.id, target,
                       moves(incoming.operation, announcement.peer));
        wire_->post(announcement.peer, pack(ask, "", "", {}));
    } else {
        if (control.inlined.size() != target.size())
            return on_lost(announcement.peer, "it has announced bytes that it does not send");
        if (!target.empty()) std::memcpy(target.data(), control.inlined.data(), target.size());
        wire_->post(announcement.peer, pack(ask, "", "", {}));
        met(op, announcement.peer);
        chunk_done(incoming.operation, announcement.peer);
    }
}

void MessageEngine::chunk_done(const std::shared_ptr<Operation>& operation, int peer) {
    operation->open.erase(std::ranges::find(operation->open, peer));
    if (!operation->open.empty() || failure_) return;
    ++operation->phase;
    begin_phase(operation);
}

void MessageEngine::on_message(int peer, std::span<const std::byte> message) {
    std::optional<Control> control = unpack(message);
    if (!control) return on_lost(peer, "it has sent bytes that are not a message of this program");
    switch (control->header.word) {
        case Word::Announce: return accept({peer, std::move(*control)});
        case Word::Fail: return fail_locked(control->description, false);
        case Word::Goodbye: gone_.insert(peer); return;
        case Word::Ask: return serve({peer, std::move(*control)});
    }
}

void MessageEngine::serve(const Announcement& ask) {
    const auto found = offered_.find(ask.control.header.id);
    if (found == offered_.end() || found->second.chunk.peer != ask.peer)
        return on_lost(ask.peer, "it has asked for bytes that this rank does not offer");
    const Incoming offer = std::move(found->second);
    const std::uint64_t id = found->first;
    offered_.erase(found);
    const std::size_t size = offer.chunk.bytes.size();
    if (size <= kSmall) {
        met(*offer.operation, ask.peer);
        return chunk_done(offer.operation, ask.peer);
    }
    if (failure_) return wire_->refuse(ask.peer, id, size);  // the bytes may be gone
    wire_->move_out(ask.peer, id, offer.chunk.bytes, moves(offer.operation, ask.peer));
}

void MessageEngine::met(Operation& operation, int peer) {
    std::erase(operation.missing, peer);
    const bool on_its_way = operation.when.begin != Clock::time_point{};
    if (operation.missing.empty() && operation.phase == 0 && !on_its_way)
        operation.when.begin = Clock::now();
}

Wire::Ticket MessageEngine::moves(const std::shared_ptr<Operation>& operation, int peer) {
    met(*operation, peer);
    moving_[next_ticket_] = {operation, peer};
    return next_ticket_++;
}

void MessageEngine::on_moved(Wire::Ticket ticket, bool whole) {
    const auto found = moving_.find(ticket);
    const auto [operation, peer] = std::move(found->second);
    moving_.erase(found);
    if (whole) chunk_done(operation, peer);  // otherwise its sender has failed and says so
}

void MessageEngine::on_lost(int peer, const std::string& how) {
    if (gone_.insert(peer).second) {
        lost_.insert(peer);
        fail_locked(fmt::format("rank {} has lost rank {}: {}", rank_, peer, how), true);
    }
}

void MessageEngine::tell_failure() {
    untold_ = false;
    for (int peer = 0; peer < ranks_; ++peer) {
        if (peer != rank_)
            wire_->post(peer, pack({Word::Fail}, failure_->substr(0, kLongest), "", {}));
    }
}

}  // namespace debubble::exec::processes
