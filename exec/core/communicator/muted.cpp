#include "exec/core/communicator/decorators.h"

#include <utility>

namespace debubble::exec {

namespace {

class OverAtOnce final : public Request {
public:
    Interval wait(Deadline) override { return {asked_, asked_}; }
    bool done() override { return true; }

private:
    Clock::time_point asked_ = Clock::now();
};

class MutedCommunicator final : public ForwardingCommunicator {
public:
    template <class Inner>
    MutedCommunicator(const bool& muted, Inner&& inner)
        : ForwardingCommunicator(std::forward<Inner>(inner)), muted_(muted) {}

    std::unique_ptr<Communicator> group(std::span<const int> global_ranks) override {
        return std::make_unique<MutedCommunicator>(muted_, inner().group(global_ranks));
    }
    std::unique_ptr<Communicator> on_device(DeviceLanes& lanes) override {
        auto device = inner().on_device(lanes);
        if (!device) return nullptr;
        return std::make_unique<MutedCommunicator>(muted_, std::move(device));
    }

private:
    Pending pass_on(const std::function<Pending()>& ask) override {
        if (muted_) return std::make_unique<OverAtOnce>();
        return ask();
    }

    const bool& muted_;
};

}  // namespace

std::unique_ptr<Communicator> muted_while(const bool& muted, Communicator& inner) {
    return std::make_unique<MutedCommunicator>(muted, inner);
}

}  // namespace debubble::exec
