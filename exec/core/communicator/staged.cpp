#include "exec/core/communicator/decorators.h"

#include <utility>
#include <vector>

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
    std::vector<HostCopy> read;
    std::vector<HostCopy> written;  ///< also read, by an operation in place
    std::vector<Buffer> targets;    ///< memory of the device to which `written` is copied
    Pending request;
};

class StagedRequest final : public Request {
public:
    StagedRequest(Staged staged, Kernels& kernels)
        : staged_(std::move(staged)), kernels_(kernels) {}

    Interval wait(Deadline deadline) override {
        const Interval when = staged_.request->wait(deadline);
        const std::vector<Buffer> targets = std::exchange(staged_.targets, {});
        for (std::size_t i = 0; i < targets.size(); ++i)
            if (!targets[i].bytes.empty()) staged_.written[i].copy_to(targets[i], kernels_);
        return when;
    }
    bool done() override { return staged_.request->done(); }

private:
    Staged staged_;
    Kernels& kernels_;
};

class StagedCommunicator final : public ForwardingCommunicator {
public:
    template <class Inner>
    StagedCommunicator(Inner&& inner, Kernels& kernels, PinnedPool& pinned)
        : ForwardingCommunicator(std::forward<Inner>(inner)), kernels_(kernels), pinned_(pinned) {}

    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        Staged staged;
        const ConstBuffer out = read(staged, data);
        staged.request = inner().send(to, out, label);
        return pending(std::move(staged));
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        Staged staged;
        const Buffer in = written(staged, data);
        staged.request = inner().receive(from, in, label);
        return pending(std::move(staged));
    }
    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        Staged staged;
        const Buffer in_place = changed(staged, data);
        staged.request = inner().all_reduce(in_place, reduction, label);
        return pending(std::move(staged));
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        Staged staged;
        const ConstBuffer out = read(staged, mine);
        const Buffer in = written(staged, all);
        staged.request = inner().all_gather(out, in, label);
        return pending(std::move(staged));
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        Staged staged;
        const ConstBuffer out = read(staged, all);
        const Buffer in = written(staged, mine);
        staged.request = inner().reduce_scatter(out, in, reduction, label);
        return pending(std::move(staged));
    }
    Pending all_to_all(std::span<const ConstBuffer> out, std::span<const Buffer> in,
                       std::string_view label) override {
        Staged staged;
        const std::vector<ConstBuffer> chunks = read_all(staged, out);
        std::vector<Buffer> targets;
        for (const Buffer& chunk : in) targets.push_back(written(staged, chunk));
        staged.request = inner().all_to_all(chunks, targets, label);
        return pending(std::move(staged));
    }
    Pending reduce_scatter_uneven(std::span<const ConstBuffer> chunks, Buffer mine,
                                  Reduction reduction, std::string_view label) override {
        Staged staged;
        const std::vector<ConstBuffer> out = read_all(staged, chunks);
        const Buffer in = written(staged, mine);
        staged.request = inner().reduce_scatter_uneven(out, in, reduction, label);
        return pending(std::move(staged));
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        Staged staged;
        const Buffer in_place = changed(staged, data);
        staged.request = inner().broadcast(in_place, root, label);
        return pending(std::move(staged));
    }
    std::unique_ptr<Communicator> group(std::span<const int> global_ranks) override {
        return std::make_unique<StagedCommunicator>(inner().group(global_ranks), kernels_, pinned_);
    }

private:
    ConstBuffer read(Staged& staged, const ConstBuffer& data) const {
        staged.read.emplace_back(data, pinned_).fill_from(data, kernels_);
        return staged.read.back().buffer();
    }
    /// Consecutive chunks that are the same memory are copied once.
    std::vector<ConstBuffer> read_all(Staged& staged, std::span<const ConstBuffer> chunks) const {
        std::vector<ConstBuffer> all;
        const ConstBuffer* before = nullptr;
        for (const ConstBuffer& chunk : chunks) {
            const bool same = before != nullptr && before->bytes.data() == chunk.bytes.data() &&
                              before->bytes.size() == chunk.bytes.size();
            all.push_back(same ? all.back() : read(staged, chunk));
            before = &chunk;
        }
        return all;
    }
    Buffer written(Staged& staged, const Buffer& target) const {
        staged.written.emplace_back(target, pinned_);
        staged.targets.push_back(target);
        return staged.written.back().buffer();
    }
    /// A target whose content is read, too.
    Buffer changed(Staged& staged, const Buffer& data) const {
        const Buffer copy = written(staged, data);
        staged.written.back().fill_from(data, kernels_);
        return copy;
    }
    Pending pending(Staged staged) const {
        return std::make_unique<StagedRequest>(std::move(staged), kernels_);
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
