#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "exec/comm/processes/engine.h"

// The work of the engine on the threads that wait; of the wire they call only wake().
namespace debubble::exec::processes {

namespace {

/// The ranks that have not arrived, or, if all have, the ranks whose bytes are in flight.
std::string what_lacks(const Operation& operation) {
    const bool all_came = operation.missing.empty();
    std::vector<int> peers = all_came ? operation.open : operation.missing;
    std::ranges::sort(peers);
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    const std::string ranks =
        fmt::format("rank{} {}", peers.size() == 1 ? "" : "s", fmt::join(peers, ", "));
    if (!all_came)
        return fmt::format("{} {} not reached it", ranks, peers.size() == 1 ? "has" : "have");
    return fmt::format("its bytes from or to {} are in flight", ranks);
}

}  // namespace

Interval MessageEngine::wait(Operation& operation, Deadline deadline) {
    const Clock::time_point asked = Clock::now();
    const LastResort::Limit limit(last_resort_, operation.description,
                                  std::max(asked, deadline) + patience_.for_moves +
                                      patience_.after_finder + patience_.for_wire);
    Lock lock(mutex_);
    while (!operation.done) {
        throw_if_failed(lock, operation);
        if (Clock::now() >= deadline) {
            const std::chrono::duration<double> waited = Clock::now() - asked;
            const std::string sentence =
                fmt::format("rank {} waited {:.3g} s for {}: {}", rank_, waited.count(),
                            operation.description, what_lacks(operation));
            fail_locked(sentence, true);
            let_go(lock, operation);
            throw DeadlinePassed(sentence);
        }
        changed_.wait_until(lock, deadline);
    }
    return operation.when;
}

bool MessageEngine::done(Operation& operation) {
    Lock lock(mutex_);
    if (!operation.done) throw_if_failed(lock, operation);
    return operation.done;
}

void MessageEngine::throw_if_failed(Lock& lock, Operation& operation) {
    if (!failure_) return;
    let_go(lock, operation);
    throw Aborted(
        fmt::format("rank {} stopped waiting for {}: {}", rank_, operation.description, *failure_));
}

void MessageEngine::leave(Operation& operation) {
    Lock lock(mutex_);
    if (operation.done) return;
    if (!failure_) {
        fail_locked(
            fmt::format("rank {} gave {} up before it was done", rank_, operation.description),
            true);
    }
    let_go(lock, operation);
}

/// After a failure: returns once the wire touches no memory any more, neither the operation's nor
/// that of another operation, which may be freed as this thread unwinds. Where moves cannot be
/// ended, as those of MPI with a rank that has stopped, the job ends.
void MessageEngine::let_go(Lock& lock, const Operation& operation) {
    const auto patience =
        patience_.for_moves + (is_told_ ? patience_.after_finder : std::chrono::nanoseconds{});
    const LastResort::Limit limit(last_resort_, operation.description,
                                  within(patience + patience_.for_wire));
    const auto is_free = [&] { return abandoned_ && moving_.empty(); };
    if (changed_.wait_for(lock, patience, is_free)) return;
    cannot_let_go_ = true;
    wire_->wake();
    changed_.wait(lock, [] { return false; });
}

void MessageEngine::fail(const std::string& sentence) {
    const Lock lock(mutex_);
    fail_locked(sentence, true);
}

void MessageEngine::fail_locked(const std::string& sentence, bool tell) {
    if (failure_) return;
    failure_ = sentence;
    is_told_ = !tell;
    untold_ = tell;
    changed_.notify_all();
    wire_->wake();
}

}  // namespace debubble::exec::processes
