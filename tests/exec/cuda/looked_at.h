#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "exec/core/communicator/decorators.h"

namespace debubble::exec {

/// Returns once what the request of a device has asked of its lanes is done.
using Look = std::function<void(Request&)>;

inline void look_until_done(Request& request) {
    while (!request.done()) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

/// A request of a device as one of the host: wait() waits for the lanes too, since the suite is
/// about to look.
class Looked final : public Request {
public:
    Looked(Pending inner, const Look& look) : inner_(std::move(inner)), look_(look) {}
    Interval wait(Deadline deadline) override {
        const Interval when = inner_->wait(deadline);
        look_(*inner_);
        return when;
    }
    bool done() override { return inner_->done(); }

private:
    Pending inner_;
    Look look_;
};

class LookedAt final : public ForwardingCommunicator {
public:
    explicit LookedAt(std::unique_ptr<Communicator> inner, Look look = look_until_done)
        : ForwardingCommunicator(std::move(inner)), look_(std::move(look)) {}

    std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
        return std::make_unique<LookedAt>(inner().group(ranks), look_);
    }

private:
    Pending pass_on(const std::function<Pending()>& ask) override {
        return std::make_unique<Looked>(ask(), look_);
    }

    Look look_;
};

}  // namespace debubble::exec
