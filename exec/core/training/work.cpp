#include "exec/core/training/training_step.h"

#include <algorithm>

namespace debubble::exec {

namespace {

class WorkRequest final : public Request {
public:
    explicit WorkRequest(std::shared_ptr<Work> work) : work_(std::move(work)) {}
    Interval wait(Deadline deadline) override { return work_->wait(deadline); }

private:
    std::shared_ptr<Work> work_;
};

}  // namespace

Pending pending(std::shared_ptr<Work> work) {
    return std::make_unique<WorkRequest>(std::move(work));
}

Interval wait_all(std::vector<Pending>& requests, Deadline deadline) {
    const Clock::time_point now = Clock::now();
    if (requests.empty()) return {now, now};
    Interval all = requests.front()->wait(deadline);
    for (const Pending& request : requests) {
        const Interval one = request->wait(deadline);
        all.begin = std::min(all.begin, one.begin);
        all.end = std::max(all.end, one.end);
        if (!one.marks) continue;
        if (all.marks)
            all.marks->end = one.marks->end;  // a lane works in the order asked
        else
            all.marks = one.marks;
    }
    return all;
}

}  // namespace debubble::exec
