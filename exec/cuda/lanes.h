#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/core/device_lanes.h"
#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// A queue for each lane, and an event for each mark of a step. The class does not know CUDA: tests
/// run it on the emulated GPU.
///
/// Events are kept from step to step, so that only the first step, or one with more marks than any
/// before, makes new ones.
class Lanes final : public DeviceLanes {
public:
    explicit Lanes(Gpu& gpu);
    ~Lanes() override;
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;

    /// The queue on which NCCL, or a library, works for this lane.
    Queue& queue(DeviceLane lane);

    DeviceLane lane(const std::string& name) override;
    void begin_step() override;
    void finish() override;
    void set_patience(std::chrono::nanoseconds patience) override { gpu_.patience = patience; }
    Mark mark(DeviceLane lane) override;
    using DeviceLanes::wait;
    void wait(DeviceLane lane, DeviceLanes& of, Mark mark) override;
    std::vector<MarkedInterval> holds() override;
    bool reached(Mark mark) override;
    std::chrono::steady_clock::time_point time_of(Mark mark) override;
    std::chrono::nanoseconds clock_error() override { return clock_error_; }
    void copy(DeviceLane lane, const std::byte* from, std::byte* to, Bytes size) override;
    void reduce(DeviceLane lane, std::span<const std::byte* const> sources,
                std::span<std::byte* const> targets, DataType type, Reduction reduction,
                std::int64_t elements) override;
    int most_parties() const override;
    std::int32_t memory() const override { return gpu_.number(); }
    std::byte* pin(Bytes size) override { return static_cast<std::byte*>(gpu_.pin(size.count)); }
    void unpin(std::byte* memory) noexcept override { gpu_.unpin(memory); }
    void open_range(const std::string& name) override { gpu_.open_range(name.c_str()); }
    void close_range() override { gpu_.close_range(); }

private:
    void note_hold(MarkedInterval hold) override;
    Event event_of(Mark mark);
    std::size_t reached_marks();

    Gpu& gpu_;
    std::mutex mutex_;  ///< guards all members below
    std::vector<std::unique_ptr<Queue>> queues_;
    std::map<std::string, DeviceLane> names_;
    std::vector<Event> events_;
    std::size_t used_ = 0;
    std::vector<MarkedInterval> holds_;
    Event base_;  ///< reached at base_at_, by the host's clock
    std::chrono::steady_clock::time_point base_at_;
    std::chrono::nanoseconds clock_error_{};
};

}  // namespace debubble::exec::cuda
