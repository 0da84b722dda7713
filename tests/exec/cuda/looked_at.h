#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "exec/core/communicator/communicator.h"

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

class LookedAt final : public Communicator {
public:
    explicit LookedAt(std::unique_ptr<Communicator> inner, Look look = look_until_done)
        : inner_(std::move(inner)), look_(std::move(look)) {}
    int rank() const override { return inner_->rank(); }
    std::span<const int> ranks() const override { return inner_->ranks(); }
    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        return looked(inner_->send(to, data, label));
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        return looked(inner_->receive(from, data, label));
    }
    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        return looked(inner_->all_reduce(data, reduction, label));
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        return looked(inner_->all_gather(mine, all, label));
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        return looked(inner_->reduce_scatter(all, mine, reduction, label));
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        return looked(inner_->broadcast(data, root, label));
    }
    Pending barrier(std::string_view label) override { return looked(inner_->barrier(label)); }
    std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
        return std::make_unique<LookedAt>(inner_->group(ranks), look_);
    }
    void abort(const std::string& sentence) override { inner_->abort(sentence); }

private:
    Pending looked(Pending request) const {
        return std::make_unique<Looked>(std::move(request), look_);
    }
    std::unique_ptr<Communicator> inner_;
    Look look_;
};

}  // namespace debubble::exec
