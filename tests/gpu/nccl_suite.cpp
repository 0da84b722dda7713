#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exec/comm/transports.h"
#include "exec/core/communicator/decorators.h"
#include "exec/cuda/gpu_placement.h"
#include "exec/cuda/load_module.h"
#include "exec/cuda/nccl/setup.h"
#include "exec/program/run/world/launch.h"
#include "tests/exec/support/comm/comm_checks.h"
#include "tests/exec/support/comm/comm_conformance.h"

/// The promises of communicators, kept by NCCL: as many processes as it is told, which may share a
/// GPU. The suite's numbers lie on the host, so each buffer goes to the device and back.
namespace debubble::exec {
namespace {

/// The promises that NCCL does not make: its order of sums, its rounding, its maximum of a NaN.
const std::set<std::string> kNotPromised{"SumsAreTakenInRankOrder", "SixteenBitSumsRoundOnce",
                                         "ANanSurvivesTheMaximum"};

/// A device's copy of a buffer of the host.
class DeviceCopy {
public:
    DeviceCopy(ConstBuffer like, Device& device, Kernels& kernels)
        : device_(device),
          kernels_(kernels),
          size_(like.bytes.size()),
          type_(like.type),
          memory_(size_ == 0 ? nullptr : device.reserve(Bytes{static_cast<std::int64_t>(size_)})) {
        if (size_ == 0) return;
        kernels_.upload({const_cast<std::byte*>(like.bytes.data()), shape(), type_}, view());
    }
    ~DeviceCopy() {
        if (memory_ != nullptr) device_.release(memory_);
    }
    DeviceCopy(const DeviceCopy&) = delete;
    DeviceCopy& operator=(const DeviceCopy&) = delete;

    Buffer buffer() const { return {{memory_, size_}, type_}; }
    void read_into(const Buffer& host) const {
        if (size_ > 0) kernels_.download(view(), {host.bytes.data(), shape(), type_});
    }

private:
    Shape shape() const { return {static_cast<std::int64_t>(buffer().elements())}; }
    TensorView view() const { return {memory_, shape(), type_}; }

    Device& device_;
    Kernels& kernels_;
    std::size_t size_;
    DataType type_;
    std::byte* memory_;
};

/// The request goes first, and needs the copies until it is gone.
class CopiedRequest final : public Request {
public:
    /// The last copies are those of the targets.
    CopiedRequest(std::vector<std::unique_ptr<DeviceCopy>> copies, Pending request,
                  std::vector<Buffer> targets)
        : copies_(std::move(copies)), request_(std::move(request)), targets_(std::move(targets)) {}

    Interval wait(Deadline deadline) override {
        const Interval when = request_->wait(deadline);
        while (!request_->done()) std::this_thread::sleep_for(50us);
        const std::vector<Buffer> targets = std::exchange(targets_, {});
        const std::size_t first = copies_.size() - targets.size();
        for (std::size_t i = 0; i < targets.size(); ++i) copies_[first + i]->read_into(targets[i]);
        return when;
    }
    bool done() override {
        if (!request_->done()) return false;
        wait(Clock::now());
        return true;
    }

private:
    std::vector<std::unique_ptr<DeviceCopy>> copies_;
    Pending request_;
    std::vector<Buffer> targets_;
};

class CopiedCommunicator final : public ForwardingCommunicator {
public:
    CopiedCommunicator(std::unique_ptr<Communicator> inner, Device& device, Kernels& kernels)
        : ForwardingCommunicator(std::move(inner)), device_(device), kernels_(kernels) {}

    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        auto copies = copies_of({data});
        auto request = inner().send(to, copies[0]->buffer(), label);
        return copied(std::move(copies), std::move(request), {});
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        auto copies = copies_of({data});
        auto request = inner().receive(from, copies[0]->buffer(), label);
        return copied(std::move(copies), std::move(request), {data});
    }
    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        auto copies = copies_of({data});
        auto request = inner().all_reduce(copies[0]->buffer(), reduction, label);
        return copied(std::move(copies), std::move(request), {data});
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        auto copies = copies_of({mine, all});
        auto request = inner().all_gather(copies[0]->buffer(), copies[1]->buffer(), label);
        return copied(std::move(copies), std::move(request), {all});
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        auto copies = copies_of({all, mine});
        auto request =
            inner().reduce_scatter(copies[0]->buffer(), copies[1]->buffer(), reduction, label);
        return copied(std::move(copies), std::move(request), {mine});
    }
    Pending all_to_all(std::span<const ConstBuffer> out, std::span<const Buffer> in,
                       std::string_view label) override {
        std::vector<ConstBuffer> all(out.begin(), out.end());
        all.insert(all.end(), in.begin(), in.end());
        Copies copies = copies_of(all);
        const std::vector<Buffer> there = buffers_of(copies, 0, out.size());
        auto request = inner().all_to_all(std::vector<ConstBuffer>(there.begin(), there.end()),
                                          buffers_of(copies, out.size(), in.size()), label);
        return copied(std::move(copies), std::move(request), {in.begin(), in.end()});
    }
    Pending reduce_scatter_uneven(std::span<const ConstBuffer> pieces, Buffer mine,
                                  Reduction reduction, std::string_view label) override {
        std::vector<ConstBuffer> all(pieces.begin(), pieces.end());
        all.push_back(mine);
        Copies copies = copies_of(all);
        const std::vector<Buffer> there = buffers_of(copies, 0, pieces.size());
        auto request =
            inner().reduce_scatter_uneven(std::vector<ConstBuffer>(there.begin(), there.end()),
                                          copies.back()->buffer(), reduction, label);
        return copied(std::move(copies), std::move(request), {mine});
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        auto copies = copies_of({data});
        auto request = inner().broadcast(copies[0]->buffer(), root, label);
        return copied(std::move(copies), std::move(request), {data});
    }
    std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
        return std::make_unique<CopiedCommunicator>(inner().group(ranks), device_, kernels_);
    }

private:
    using Copies = std::vector<std::unique_ptr<DeviceCopy>>;
    Copies copies_of(const std::vector<ConstBuffer>& buffers) const {
        Copies copies;
        for (const ConstBuffer& buffer : buffers)
            copies.push_back(std::make_unique<DeviceCopy>(buffer, device_, kernels_));
        return copies;
    }
    static Pending copied(Copies copies, Pending request, std::vector<Buffer> targets) {
        return std::make_unique<CopiedRequest>(std::move(copies), std::move(request),
                                               std::move(targets));
    }
    static std::vector<Buffer> buffers_of(const Copies& copies, std::size_t first,
                                          std::size_t count) {
        std::vector<Buffer> buffers;
        for (std::size_t i = first; i < first + count; ++i) buffers.push_back(copies[i]->buffer());
        return buffers;
    }

    Device& device_;
    Kernels& kernels_;
};

/// Every way between two ranks, so that none is made in the middle of a failure.
nccl::GroupUse all_ways(std::span<const int> ranks) {
    nccl::GroupUse use;
    const int size = static_cast<int>(ranks.size());
    for (int from = 0; from < size; ++from)
        for (int to = 0; to < size; ++to)
            for (const auto kind : {Message::Kind::Activation, Message::Kind::Gradient})
                if (from != to) use.edges.push_back({from, to, kind, 0});
    return use;
}

int keep_promises(const ProcessPlace& place, const std::string& name) {
    const auto host = connect_tcp(tcp_job(place, ""));
    const CudaModule cuda = CudaModule::load(true);
    const int gpu = place.rank_on_this_host % cuda.gpus();
    const DeviceAssignment assignment = gather_assignment(*host, cuda.bus_id(gpu), 60s);
    const auto device = cuda.device(gpu, assignment.on_this_gpu);
    const auto kernels = device->make_kernels();
    const auto whole = connect_nccl({*host, device->lanes(), nullptr, all_ways, 60s,
                                     assignment.some_share, assignment.one_host});
    CopiedCommunicator world(whole->group(host->ranks()), *device, *kernels);
    host->barrier("READY")->wait(soon());
    int kept = 0;
    for (const ConformanceCase& promise : conformance_cases()) {
        const bool asked = name == "whole" ? !promise.ends_the_job : promise.name == name;
        if (!asked || kNotPromised.contains(promise.name)) continue;
        try {
            promise.body(world);
            ++kept;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s: %s\n", promise.name.c_str(), error.what());
            world.abort(error.what());
            return 1;
        }
    }
    if (place.rank == 0) std::printf("%d promises kept by %d ranks\n", kept, place.size);
    std::fflush(stdout);
    return kept == 0;
}

}  // namespace
}  // namespace debubble::exec

/// RANKS, then the name of a promise, or "whole" for all that leave the job so.
int main(int argc, char** argv) {
    using namespace debubble::exec;
    try {
        const ProcessPlace place = process_place();
        if (place.starter == Starter::Torchrun)
            return keep_promises(place, argc > 1 ? argv[1] : "");
        if (argc < 3) throw std::runtime_error("how many ranks, and which promise?");
        return start_ranks(std::atoi(argv[1]), {argv + 2, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}
