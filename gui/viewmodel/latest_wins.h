#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace debubble::gui {

/// A worker for questions that supersede each other: while one is being answered, of all that come
/// the last one waits; an answer that is out of date is dropped. The destructor waits for the
/// answer under way.
template <class Question, class Answer>
class LatestWins {
public:
    /// `work` runs in the worker. So does `deliver`, with the answer to a question that nothing
    /// has superseded when it is called.
    LatestWins(std::function<Answer(const Question&)> work, std::function<void(Answer)> deliver)
        : work_(std::move(work)), deliver_(std::move(deliver)), thread_([this] { run(); }) {}

    ~LatestWins() {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
        }
        wake_.notify_all();
        thread_.join();
    }
    LatestWins(const LatestWins&) = delete;
    LatestWins& operator=(const LatestWins&) = delete;

    void ask(Question question) {
        {
            const std::lock_guard lock(mutex_);
            next_ = std::move(question);
        }
        wake_.notify_all();
    }

    /// The answer under way, or one that waits, is no longer wanted.
    void forget() {
        const std::lock_guard lock(mutex_);
        next_.reset();
        ++forgotten_;
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            wake_.wait(lock, [&] { return ending_ || next_; });
            if (ending_) return;
            const Question question = std::move(*next_);
            next_.reset();
            const std::uint64_t forgotten = forgotten_;
            lock.unlock();
            Answer answer = work_(question);
            lock.lock();
            if (ending_ || next_ || forgotten != forgotten_) continue;
            lock.unlock();
            deliver_(std::move(answer));
            lock.lock();
        }
    }

    std::function<Answer(const Question&)> work_;
    std::function<void(Answer)> deliver_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Question> next_;
    std::uint64_t forgotten_ = 0;
    bool ending_ = false;
    std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace debubble::gui
