#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// Requests, and what is to be done once they are through: both the interpreter, who has asked
/// for it, and whatever builds upon the result may wait, and the first who waits does it.
/// One thread of a rank waits at a time.
class Work {
public:
    /// `finish` may ask for more and wait for it.
    using Finish = std::function<Interval(Deadline)>;

    explicit Work(Finish finish) : finish_(std::move(finish)) {}

    Interval wait(Deadline deadline) {
        // The function goes before this returns, and with it the requests and their buffers.
        if (const Finish finish = std::exchange(finish_, nullptr)) interval_ = finish(deadline);
        return interval_;
    }
    bool done() const { return !finish_; }

private:
    Finish finish_;
    Interval interval_{};
};

/// What the interpreter gets: it may give it up, and the work is still there.
Pending pending(std::shared_ptr<Work> work);

/// From the first begin to the last end; now, if there is none.
Interval wait_all(std::vector<Pending>& requests, Deadline deadline);

}  // namespace debubble::exec
