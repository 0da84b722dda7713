#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/parallel.h"

namespace debubble::gui {

/// A worker for questions that supersede each other. A new question stops the running one; of
/// several new questions only the last one waits; an outdated answer is dropped. The destructor
/// waits until the running question has stopped.
template <class Question, class Answer>
class LatestWins {
public:
    /// `work` runs in the worker and may throw Cancelled after a stop request. `deliver` runs there
    /// too, with the answer to a question that is not superseded at that moment.
    using Work = std::function<Answer(const Question&, const std::stop_token&)>;
    LatestWins(Work work, std::function<void(Answer)> deliver)
        : work_(std::move(work)), deliver_(std::move(deliver)), thread_([this] { run(); }) {}

    ~LatestWins() {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
            stop_.request_stop();
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
            stop_.request_stop();
        }
        wake_.notify_all();
    }

    /// Drops the running and the waiting question.
    void forget() {
        const std::lock_guard lock(mutex_);
        next_.reset();
        stop_.request_stop();
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            wake_.wait(lock, [&] { return ending_ || next_; });
            if (ending_) return;
            const Question question = std::move(*next_);
            next_.reset();
            stop_ = {};
            const std::stop_token stop = stop_.get_token();
            lock.unlock();
            std::optional<Answer> answer = attempt(question, stop);
            lock.lock();
            if (!answer || stop.stop_requested()) continue;
            lock.unlock();
            deliver_(*std::move(answer));
            lock.lock();
        }
    }

    std::optional<Answer> attempt(const Question& question, const std::stop_token& stop) {
        try {
            return work_(question, stop);
        } catch (const Cancelled&) {
            return std::nullopt;
        }
    }

    Work work_;
    std::function<void(Answer)> deliver_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Question> next_;
    std::stop_source stop_;  ///< stops the running question
    bool ending_ = false;
    std::thread thread_;  ///< last, since it uses all members above
};

}  // namespace debubble::gui
