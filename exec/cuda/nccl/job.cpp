#include "exec/cuda/nccl/job.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/core/device.h"

namespace debubble::exec::nccl {

namespace {

using namespace std::chrono_literals;
constexpr auto kBetweenLooks = 10ms;
constexpr auto kToPart = 10s;

}  // namespace

Job::Job(Communicator& host, DeviceLanes& lanes, std::unique_ptr<Calls> calls,
         std::chrono::nanoseconds patience)
    : host_(host),
      watched_(host.group(host.ranks())),
      lanes_(lanes),
      calls_(std::move(calls)),
      patience_(patience),
      exceptions_(std::uncaught_exceptions()) {
    if (const int size = watched_->size(); size > 1) {
        const int before = (watched_->rank() + size - 1) % size;
        alive_ = watched_->receive({before, {}}, buffer_of(std::span(&token_, 1)), "NCCL_END");
    }
    thread_ = std::thread([this] { watch(); });
}

Job::~Job() {
    {
        const Lock lock(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
    // A rank that unwinds has a reason, which the others' parting must not hide.
    const bool unwinds = std::uncaught_exceptions() > exceptions_;
    if (!failure_ && !unwinds) part();
    if (failure_ || unwinds)
        calls_->abort(communicators_);
    else
        for (Handle communicator : communicators_) calls_->destroy(communicator);
}

/// No rank destroys communicators while others may need them.
void Job::part() {
    if (!alive_) return;
    try {
        std::int32_t token = 0;
        const int after = (watched_->rank() + 1) % watched_->size();
        const Pending told =
            watched_->send({after, {}}, buffer_of(std::span(&token, 1)), "NCCL_END");
        alive_->wait(within(kToPart));
        told->wait(within(kToPart));
    } catch (const std::exception& error) {
        failure_ = error.what();
    }
}

/// Memory of the library that its communicators know of.
class RegisteredMemory final : public DeviceMemory {
public:
    RegisteredMemory(std::shared_ptr<DeviceMemory> memory, Job& job)
        : memory_(std::move(memory)), job_(job) {}
    std::byte* reserve(Bytes size) override {
        std::byte* const at = memory_->reserve(size);
        job_.register_range({at, static_cast<std::size_t>(size.count)});
        return at;
    }
    /// The communicators that knew of it may be gone.
    void release(std::byte* memory) noexcept override { memory_->release(memory); }

private:
    std::shared_ptr<DeviceMemory> memory_;
    Job& job_;
};

std::shared_ptr<DeviceMemory> Job::memory() {
    auto memory = calls_->memory();
    return memory ? std::make_shared<RegisteredMemory>(std::move(memory), *this) : nullptr;
}

void Job::register_range(std::span<std::byte> range) {
    registered_ = range;
    std::vector<Handle> all;
    {
        const Lock lock(mutex_);
        all = communicators_;
    }
    for (const Handle communicator : all) register_with(communicator);
}

/// An error here is harmless (Calls::register_range): errors of the communicator itself recur.
void Job::register_with(Handle communicator) {
    Answer answer;
    {
        const Lock lock(mutex_);
        if (failure_) return;
        answer = calls_->register_range(communicator, registered_);
    }
    if (answer.in_progress) await_acceptance(communicator, answer, "the use of the arena's memory");
}

int Job::multiprocessors_taken() const {
    const auto number = [&](Purpose purpose) {
        const auto found = made_for_.find(purpose);
        return found == made_for_.end() ? 0 : found->second;
    };
    return std::min(number(Purpose::Edge), 2) * most_ctas(Purpose::Edge) +
           std::min(number(Purpose::Group), 1) * most_ctas(Purpose::Group);
}

Handle Job::join(int ranks, const Id& id, int rank, Purpose purpose, const std::string& what) {
    Handle made = nullptr;
    Answer answer;
    {
        const Lock lock(mutex_);
        answer = calls_->init(made, ranks, id, rank, purpose);
        if (made != nullptr) communicators_.push_back(made);
    }
    await_acceptance(made, answer, what);
    throw_if_failed(what);
    ++made_for_[purpose];
    if (!registered_.empty()) register_with(made);
    return made;
}

void Job::await_acceptance(Handle communicator, Answer answer, const std::string& what) {
    const Deadline deadline = within(patience_);
    const Polling polling(Clock::now());
    while (answer.in_progress) {
        const auto now = Clock::now();
        if (const auto pause = polling.pause(now); pause > 0ns)
            std::this_thread::sleep_for(pause);
        else
            std::this_thread::yield();
        if (has_failed()) return;
        if (now >= deadline) {
            const std::string sentence =
                fmt::format("rank {} waited {:.3g} s for NCCL to start {}", host_.global_rank(),
                            std::chrono::duration<double>(patience_).count(), what);
            fail(sentence);
            throw DeadlinePassed(sentence);
        }
        const Lock lock(mutex_);
        if (failure_) return;
        answer = calls_->state(communicator);
    }
    if (answer.error) {
        const std::string sentence = fmt::format("NCCL cannot start {}: {}", what, *answer.error);
        fail(sentence);
        throw WorldError(sentence);
    }
}

MarkedInterval Job::issue(Handle communicator, DeviceLane lane, const std::string& description,
                          const std::function<Answer()>& call) {
    lanes_.wait(lane, lanes_.mark(kComputeLane));
    const Mark begin = lanes_.mark(lane);
    const bool works = call && !has_failed();  // a rank that waits hears of a failure
    std::optional<Point> begun;
    if (works) {
        Answer answer;
        {
            const Lock lock(mutex_);
            if (!failure_) {
                begun = calls_->point(lane);
                answer = call();
            }
        }
        await_acceptance(communicator, answer, description);
    }
    const Mark end = lanes_.mark(lane);
    const Lock lock(mutex_);
    if (works) records_[lane.number].open.push_back({description, begun, calls_->point(lane), {}});
    return {begin, end};
}

bool Job::has_failed() {
    const Lock lock(mutex_);
    return failure_.has_value();
}

void Job::throw_if_failed(const std::string& description) {
    const Lock lock(mutex_);
    if (failure_)
        throw Aborted(fmt::format("rank {} stopped waiting for {}: {}", host_.global_rank(),
                                  description, *failure_));
}

void Job::fail(const std::string& sentence) {
    const Lock lock(mutex_);
    fail_locked(sentence, true);
}

void Job::fail_locked(const std::string& sentence, bool tell) {
    if (failure_) return;
    failure_ = sentence;
    if (tell) host_.abort(sentence);
    calls_->abort(std::exchange(communicators_, {}));
}

void Job::watch() {
    Lock lock(mutex_);
    try {
        calls_->begin_thread();
        while (!closing_ && !failure_) {
            changed_.wait_for(lock, kBetweenLooks);
            notice_parting();
            if (const auto why = trouble()) fail_locked(*why, true);
        }
    } catch (const WorldError& error) {
        fail_locked(error.what(), true);
    }
}

void Job::notice_parting() {
    try {
        if (alive_) alive_->done();
    } catch (const WorldError& error) {
        fail_locked(error.what(), false);  // all ranks know of it
    }
}

/// Records what has started and what is over. Hosts may be a whole step ahead, so time counts from
/// the start.
void Job::take_note_of(LaneRecord& lane) {
    while (!lane.open.empty()) {
        Asked& first = lane.open.front();
        if (first.begin && calls_->passed(*first.begin)) {
            first.begin.reset();
            first.began = Clock::now();
        }
        if (first.begin || !calls_->passed(first.end)) return;
        lane.completed = std::move(first.description);
        lane.open.pop_front();
    }
}

std::optional<std::string> Job::trouble() {
    for (Handle communicator : communicators_) {
        const Answer answer = calls_->state(communicator);
        if (answer.error)
            return fmt::format("NCCL reports on rank {}: {}; {}", host_.global_rank(),
                               *answer.error, lanes_text());
    }
    std::optional<std::string> stalled;
    for (auto& [number, lane] : records_) {
        take_note_of(lane);
        if (lane.open.empty() || stalled) continue;
        const Asked& first = lane.open.front();
        if (!first.begin && Clock::now() - first.began > patience_) stalled = first.description;
    }
    if (!stalled) return std::nullopt;
    return fmt::format("rank {} waited {:.3g} s for {} to end on its stream; {}",
                       host_.global_rank(), std::chrono::duration<double>(patience_).count(),
                       *stalled, lanes_text());
}

/// A text of each stream that has work left.
std::string Job::lanes_text() const {
    std::vector<std::string> streams;
    for (const auto& [number, lane] : records_) {
        if (lane.open.empty()) continue;
        streams.push_back(fmt::format("stream {}: last issued {}, last completed {}", number,
                                      lane.open.back().description,
                                      lane.completed.value_or("nothing")));
    }
    return streams.empty() ? "all that was issued is done"
                           : fmt::format("{}", fmt::join(streams, "; "));
}

}  // namespace debubble::exec::nccl
