#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// Requests, and the work that is to be done once they are through. Both the interpreter, which has
/// asked for it, and anything that builds on the result may wait, and the first one that waits does
/// the work. One thread of a rank waits at a time.
class Work {
public:
    /// `finish` may ask for more and wait for it.
    using Finish = std::function<Interval(Deadline)>;

    explicit Work(Finish finish) : finish_(std::move(finish)) {}

    Interval wait(Deadline deadline) {
        // The function is destroyed before this returns, and with it the requests and their
        // buffers.
        if (const Finish finish = std::exchange(finish_, nullptr)) interval_ = finish(deadline);
        return interval_;
    }
    bool done() const { return !finish_; }

private:
    Finish finish_;
    Interval interval_{};
};

/// The interpreter's request for the work: if the interpreter gives it up, the work stays.
Pending pending(std::shared_ptr<Work> work);

/// Waits for all; the interval from the first start to the last end, or now if there is none.
Interval wait_all(std::vector<Pending>& requests, Deadline deadline);

}  // namespace debubble::exec
