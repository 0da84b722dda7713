#include "exec/core/communicator/staged.h"

#include <optional>
#include <utility>

#include "exec/core/communicator/forwarding.h"

namespace debubble::exec {

namespace {

/// Host memory that takes the place of a device buffer.
class HostCopy {
public:
    HostCopy(const ConstBuffer& like, PinnedPool& pinned)
        : memory_(pinned.take(Bytes{static_cast<std::int64_t>(like.bytes.size())})),
          size_(like.bytes.size()),
          type_(like.type) {}

    Buffer buffer() const { return {{memory_.data(), size_}, type_}; }
    TensorView view() const { return {memory_.data(), shape(), type_}; }
    Shape shape() const { return {static_cast<std::int64_t>(buffer().elements())}; }

    void fill_from(const ConstBuffer& device, Kernels& kernels) const {
        kernels.download({device.bytes.data(), shape(), type_}, view());
    }
    void copy_to(const Buffer& device, Kernels& kernels) const {
        kernels.upload(view(), {device.bytes.data(), shape(), type_});
    }

private:
    PinnedPool::Block memory_;
    std::size_t size_;
    DataType type_;
};

/// The copies are destroyed last: the request over the host's communicator needs them until it is
/// gone.
struct Staged {
    std::optional<HostCopy> read;
    std::optional<HostCopy> written;  ///< also read, by an operation in place
    Pending request;
};

class StagedRequest final : public Request {
public:
    StagedRequest(Staged staged, Kernels& kernels)
        : staged_(std::move(staged)), kernels_(kernels) {}
    /// Once the operation is done, `written` is copied to the target.
    StagedRequest(Staged staged, Kernels& kernels, const Buffer& target)
        : staged_(std::move(staged)), kernels_(kernels), target_(target) {}

    Interval wait(Deadline deadline) override {
        const Interval when = staged_.request->wait(deadline);
        if (!target_.bytes.empty()) staged_.written->copy_to(std::exchange(target_, {}), kernels_);
        return when;
    }
    bool done() override { return staged_.request->done(); }

private:
    Staged staged_;
    Kernels& kernels_;
    Buffer target_;
};

class StagedCommunicator final : public ForwardingCommunicator {
public:
    template <class Inner>
    StagedCommunicator(Inner&& inner, Kernels& kernels, PinnedPool& pinned)
        : ForwardingCommunicator(std::forward<Inner>(inner)), kernels_(kernels), pinned_(pinned) {}

    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        Staged staged{filled(data), {}, {}};
        staged.request = inner().send(to, staged.read->buffer(), label);
        return std::make_unique<StagedRequest>(std::move(staged), kernels_);
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        Staged staged{{}, HostCopy(data, pinned_), {}};
        staged.request = inner().receive(from, staged.written->buffer(), label);
        return into(data, std::move(staged));
    }
    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        Staged staged{{}, filled(data), {}};
        staged.request = inner().all_reduce(staged.written->buffer(), reduction, label);
        return into(data, std::move(staged));
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        Staged staged{filled(mine), HostCopy(all, pinned_), {}};
        staged.request = inner().all_gather(staged.read->buffer(), staged.written->buffer(), label);
        return into(all, std::move(staged));
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        Staged staged{filled(all), HostCopy(mine, pinned_), {}};
        staged.request = inner().reduce_scatter(staged.read->buffer(), staged.written->buffer(),
                                                reduction, label);
        return into(mine, std::move(staged));
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        Staged staged{{}, filled(data), {}};
        staged.request = inner().broadcast(staged.written->buffer(), root, label);
        return into(data, std::move(staged));
    }
    std::unique_ptr<Communicator> group(std::span<const int> global_ranks) override {
        return std::make_unique<StagedCommunicator>(inner().group(global_ranks), kernels_, pinned_);
    }

private:
    HostCopy filled(const ConstBuffer& data) const {
        HostCopy copy(data, pinned_);
        copy.fill_from(data, kernels_);
        return copy;
    }
    Pending into(const Buffer& target, Staged staged) const {
        return std::make_unique<StagedRequest>(std::move(staged), kernels_, target);
    }

    Kernels& kernels_;
    PinnedPool& pinned_;
};

}  // namespace

std::unique_ptr<Communicator> stage_through_host(Communicator& world, Kernels& kernels,
                                                 PinnedPool& pinned) {
    return std::make_unique<StagedCommunicator>(world, kernels, pinned);
}

}  // namespace debubble::exec
