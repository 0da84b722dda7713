#include "exec/cuda/lanes.h"

#include <algorithm>
#include <cassert>

#include "exec/cuda/kernels/reduce.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

namespace {

using Lock = std::lock_guard<std::mutex>;

/// The number of events that suffices for a step of some dozen microbatches.
constexpr int kEvents = 512;

}  // namespace

Lanes::Lanes(Gpu& gpu) : gpu_(gpu), base_(gpu.make_event()) {
    static_assert(kComputeLane.number == 0 && kCopyLane.number == 1, "the first two");
    for (int i = 0; i < 2; ++i) queues_.push_back(gpu.make_queue(false));
    for (int i = 0; i < kEvents; ++i) events_.push_back(gpu.make_event());
    gpu.progress = [this] { return reached_marks(); };
}

Lanes::~Lanes() {
    gpu_.progress = nullptr;
    gpu_.free_retired();
    for (Event event : events_) gpu_.destroy(event);
    gpu_.destroy(base_);
}

Queue& Lanes::queue(DeviceLane lane) {
    const Lock lock(mutex_);
    return *queues_.at(static_cast<std::size_t>(lane.number));
}

DeviceLane Lanes::lane(const std::string& name) {
    const Lock lock(mutex_);
    const DeviceLane next{static_cast<std::int32_t>(queues_.size())};
    const auto [at, is_new] = names_.try_emplace(name, next);
    if (is_new) queues_.push_back(gpu_.make_queue(true));
    return at->second;
}

void Lanes::begin_step() {
    finish();
    gpu_.free_retired();
    using Clock = std::chrono::steady_clock;
    const Clock::time_point asked = Clock::now();
    queue(kComputeLane).record(base_);
    gpu_.await(base_);
    const Clock::time_point seen = Clock::now();
    const Lock lock(mutex_);
    base_at_ = asked + (seen - asked) / 2;
    clock_error_ = (seen - asked) / 2;
    used_ = 0;
    holds_.clear();
}

void Lanes::finish() {
    std::vector<Queue*> all;
    {
        const Lock lock(mutex_);
        for (const auto& queue : queues_) all.push_back(queue.get());
    }
    for (Queue* queue : all) queue->finish();
}

Mark Lanes::mark(DeviceLane lane) {
    Queue& where = queue(lane);
    const Lock lock(mutex_);
    if (used_ == events_.size()) events_.push_back(gpu_.make_event());
    where.record(events_[used_]);
    return {static_cast<std::int32_t>(used_++)};
}

Event Lanes::event_of(Mark mark) {
    const Lock lock(mutex_);
    assert(mark.number >= 0 && static_cast<std::size_t>(mark.number) < used_ &&
           "a mark of this step");
    return events_[mark.number];
}

std::size_t Lanes::reached_marks() {
    const Lock lock(mutex_);
    const auto end = events_.begin() + static_cast<std::ptrdiff_t>(used_);
    return static_cast<std::size_t>(
        std::count_if(events_.begin(), end, [&](Event event) { return gpu_.reached(event); }));
}

void Lanes::wait(DeviceLane lane, DeviceLanes& of, Mark mark) {
    queue(lane).wait(static_cast<Lanes&>(of).event_of(mark));
}

void Lanes::note_hold(MarkedInterval hold) {
    const Lock lock(mutex_);
    holds_.push_back(hold);
}

std::vector<MarkedInterval> Lanes::holds() {
    const Lock lock(mutex_);
    return holds_;
}

bool Lanes::reached(Mark mark) {
    return gpu_.reached(event_of(mark));
}

std::chrono::steady_clock::time_point Lanes::time_of(Mark mark) {
    return base_at_ + gpu_.between(base_, event_of(mark));
}

void Lanes::copy(DeviceLane lane, const std::byte* from, std::byte* to, Bytes size) {
    if (from != to && size.count > 0) queue(lane).copy(from, to, size.count);
}

int Lanes::most_parties() const {
    return kMaxParties;
}

void Lanes::reduce(DeviceLane lane, std::span<const std::byte* const> sources,
                   std::span<std::byte* const> targets, DataType type, Reduction reduction,
                   std::int64_t elements) {
    assert(sources.size() <= kMaxParties && targets.size() <= kMaxParties && "so many are taken");
    Parties parties;
    parties.sources = static_cast<int>(sources.size());
    parties.targets = static_cast<int>(targets.size());
    std::ranges::copy(sources, parties.from);
    std::ranges::copy(targets, parties.to);
    cuda::reduce(queue(lane).stream(), elements, type_of(type), reduction == Reduction::Max,
                 parties);
}

}  // namespace debubble::exec::cuda
