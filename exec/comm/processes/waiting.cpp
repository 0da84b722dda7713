#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "exec/comm/processes/engine.h"

// What the engine does on the threads of those who wait; of the wire only wake().
namespace debubble::exec::processes {

Interval Engine::wait(Operation& operation, Deadline deadline) {
    const Clock::time_point asked = Clock::now();
    Lock lock(mutex_);
    while (!operation.done) {
        throw_if_failed(lock, operation);
        if (Clock::now() >= deadline) {
            const std::chrono::duration<double> waited = Clock::now() - asked;
            std::vector<int> missing = operation.missing;
            std::sort(missing.begin(), missing.end());
            missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
            const std::string sentence = fmt::format(
                "rank {} waited {:.3g} s for {}: {}", rank_, waited.count(), operation.description,
                missing.empty()
                    ? "its bytes are on the way"
                    : fmt::format("rank{} {} {} not come to it", missing.size() == 1 ? "" : "s",
                                  fmt::join(missing, ", "), missing.size() == 1 ? "has" : "have"));
            fail_locked(sentence, true);
            bell_.wait(lock, [&] { return operation.moving == 0; });
            throw DeadlinePassed(sentence);
        }
        bell_.wait_until(lock, deadline);
    }
    return operation.when;
}

bool Engine::done(Operation& operation) {
    Lock lock(mutex_);
    if (!operation.done) throw_if_failed(lock, operation);
    return operation.done;
}

void Engine::throw_if_failed(Lock& lock, Operation& operation) {
    if (!failure_) return;
    bell_.wait(lock, [&] { return operation.moving == 0; });
    throw Aborted(
        fmt::format("rank {} stopped waiting for {}: {}", rank_, operation.description, *failure_));
}

void Engine::leave(Operation& operation) {
    Lock lock(mutex_);
    if (operation.done) return;
    if (!failure_) {
        fail_locked(
            fmt::format("rank {} gave {} up before it was done", rank_, operation.description),
            true);
    }
    bell_.wait(lock, [&] { return operation.moving == 0; });
}

void Engine::fail(const std::string& sentence) {
    const Lock lock(mutex_);
    fail_locked(sentence, true);
}

void Engine::fail_locked(const std::string& sentence, bool tell) {
    if (failure_) return;
    failure_ = sentence;
    untold_ = tell;
    bell_.notify_all();
    wire_->wake();
}

}  // namespace debubble::exec::processes
