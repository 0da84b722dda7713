#include "exec/training/work.h"

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
    if (requests.empty()) return {Clock::now(), Clock::now()};
    Interval all = requests.front()->wait(deadline);
    for (const Pending& request : requests) {
        const Interval one = request->wait(deadline);
        all.begin = std::min(all.begin, one.begin);
        all.end = std::max(all.end, one.end);
    }
    return all;
}

}  // namespace debubble::exec
