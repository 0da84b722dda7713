#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "exec/core/communicator/communicator.h"
#include "exec/core/kernels.h"
#include "exec/core/pinned_pool.h"

/// Communicators that wrap another one and change its behaviour.
namespace debubble::exec {

/// A communicator that is `inner` in everything that a class derived from it does not override.
/// Groups and communicators of devices are those of `inner`, undecorated.
class ForwardingCommunicator : public Communicator {
public:
    /// `inner` must outlive this one.
    explicit ForwardingCommunicator(Communicator& inner) : inner_(inner) {}
    explicit ForwardingCommunicator(std::unique_ptr<Communicator> inner)
        : owned_(std::move(inner)), inner_(*owned_) {}

    int rank() const override { return inner_.rank(); }
    std::span<const int> ranks() const override { return inner_.ranks(); }

    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        return pass_on([&] { return inner_.send(to, data, label); });
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        return pass_on([&] { return inner_.receive(from, data, label); });
    }
    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        return pass_on([&] { return inner_.all_reduce(data, reduction, label); });
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        return pass_on([&] { return inner_.all_gather(mine, all, label); });
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        return pass_on([&] { return inner_.reduce_scatter(all, mine, reduction, label); });
    }
    Pending all_to_all(std::span<const ConstBuffer> out, std::span<const Buffer> in,
                       std::string_view label) override {
        return pass_on([&] { return inner_.all_to_all(out, in, label); });
    }
    Pending reduce_scatter_uneven(std::span<const ConstBuffer> chunks, Buffer mine,
                                  Reduction reduction, std::string_view label) override {
        return pass_on(
            [&] { return inner_.reduce_scatter_uneven(chunks, mine, reduction, label); });
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        return pass_on([&] { return inner_.broadcast(data, root, label); });
    }
    Pending barrier(std::string_view label) override {
        return pass_on([&] { return inner_.barrier(label); });
    }

    std::unique_ptr<Communicator> group(std::span<const int> global_ranks) override {
        return inner_.group(global_ranks);
    }
    std::unique_ptr<Communicator> on_device(DeviceLanes& lanes) override {
        return inner_.on_device(lanes);
    }
    std::shared_ptr<DeviceMemory> memory() override { return inner_.memory(); }
    int multiprocessors_taken() const override { return inner_.multiprocessors_taken(); }
    bool starts_in_order() const override { return inner_.starts_in_order(); }
    void abort(const std::string& sentence) override { inner_.abort(sentence); }

protected:
    Communicator& inner() { return inner_; }

    /// Makes the request of one communication by calling `ask`. An override changes all
    /// communications in the same way.
    virtual Pending pass_on(const std::function<Pending()>& ask) { return ask(); }

private:
    std::unique_ptr<Communicator> owned_;
    Communicator& inner_;
};

/// A communicator that does not communicate while `muted` is true: every communication completes at
/// once, and receive buffers keep their content. Otherwise it is `inner`.
///
/// `inner` and the flag must outlive it and its groups.
std::unique_ptr<Communicator> muted_while(const bool& muted, Communicator& inner);

/// Carries tensors of a device over a communicator of host memory: each is copied out once the
/// kernels that make it are done, and in when its request is waited for. So every communicator
/// works for every device, with the reduction order and bits that it has on hosts.
///
/// All arguments must outlive the communicator and its groups. A request is waited for on the
/// thread of the kernels; its copies lie in `pinned` memory.
std::unique_ptr<Communicator> stage_through_host(Communicator& world, Kernels& kernels,
                                                 PinnedPool& pinned);

}  // namespace debubble::exec
