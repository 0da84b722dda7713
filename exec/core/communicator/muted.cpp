#include "exec/core/communicator/muted.h"

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

class MutedCommunicator final : public Communicator {
public:
    MutedCommunicator(const bool& muted, Communicator& inner) : muted_(muted), inner_(inner) {}
    MutedCommunicator(const bool& muted, std::unique_ptr<Communicator> inner)
        : muted_(muted), owned_(std::move(inner)), inner_(*owned_) {}

    int rank() const override { return inner_.rank(); }
    std::span<const int> ranks() const override { return inner_.ranks(); }

    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        return unless_muted([&] { return inner_.send(to, data, label); });
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        return unless_muted([&] { return inner_.receive(from, data, label); });
    }
    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        return unless_muted([&] { return inner_.all_reduce(data, reduction, label); });
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        return unless_muted([&] { return inner_.all_gather(mine, all, label); });
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        return unless_muted([&] { return inner_.reduce_scatter(all, mine, reduction, label); });
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        return unless_muted([&] { return inner_.broadcast(data, root, label); });
    }
    Pending barrier(std::string_view label) override {
        return unless_muted([&] { return inner_.barrier(label); });
    }

    std::unique_ptr<Communicator> group(std::span<const int> global_ranks) override {
        return std::make_unique<MutedCommunicator>(muted_, inner_.group(global_ranks));
    }
    std::unique_ptr<Communicator> on_device(DeviceLanes& lanes) override {
        auto device = inner_.on_device(lanes);
        if (!device) return nullptr;
        return std::make_unique<MutedCommunicator>(muted_, std::move(device));
    }
    bool starts_in_order() const override { return inner_.starts_in_order(); }
    void abort(const std::string& sentence) override { inner_.abort(sentence); }

private:
    template <class Ask>
    Pending unless_muted(const Ask& ask) const {
        if (muted_) return std::make_unique<OverAtOnce>();
        return ask();
    }

    const bool& muted_;
    std::unique_ptr<Communicator> owned_;
    Communicator& inner_;
};

}  // namespace

std::unique_ptr<Communicator> muted_while(const bool& muted, Communicator& inner) {
    return std::make_unique<MutedCommunicator>(muted, inner);
}

}  // namespace debubble::exec
