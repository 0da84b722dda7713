#include "exec/cuda/emulation/emulated_gpu.h"

#include <cassert>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "exec/cuda/emulation/emulation.h"
#include "exec/cuda/emulation/races.h"

namespace debubble::exec::cuda {

namespace {

using Clock = std::chrono::steady_clock;

/// One recording of an event.
class Moment {
public:
    ~Moment() { races::after(&mutex_); }
    void reach() {
        races::before(this);
        {
            const races::Unseen unseen;
            {
                const std::lock_guard lock(mutex_);
                at_ = Clock::now();
            }
            bell_.notify_all();
        }
        races::before(&mutex_);
    }
    void wait() {
        {
            const races::Unseen unseen;
            std::unique_lock lock(mutex_);
            bell_.wait(lock, [&] { return at_.has_value(); });
        }
        races::after(this);
        races::before(&mutex_);
    }
    std::optional<Clock::time_point> at() {
        const auto found = look();
        if (found) races::after(this);
        races::before(&mutex_);
        return found;
    }

private:
    std::optional<Clock::time_point> look() {
        const races::Unseen unseen;
        const std::lock_guard lock(mutex_);
        return at_;
    }

    std::mutex mutex_;
    std::condition_variable bell_;
    std::optional<Clock::time_point> at_;
};

struct EmulatedEvent {
    std::mutex mutex;
    std::shared_ptr<Moment> last;  ///< the last recording; none counts as reached

    std::shared_ptr<Moment> moment() {
        const std::lock_guard lock(mutex);
        return last;
    }
};

EmulatedEvent& emulated(Event event) {
    return *reinterpret_cast<EmulatedEvent*>(event);
}

class EmulatedQueue final : public Queue, public emulation::Line, public Drained {
public:
    EmulatedQueue(EmulatedGpu& gpu, bool communicates, std::chrono::microseconds delays)
        : Queue(gpu), emulated_(gpu), communicates_(communicates), delays_(delays) {
        gpu.add(*this);
        thread_ = std::thread([this] { work(); });
    }
    ~EmulatedQueue() override {
        emulated_.remove(*this);
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        bell_.notify_all();
        thread_.join();
    }

    Stream stream() override { return as_stream(); }
    void copy(const void* from, void* to, std::int64_t size) override {
        ask([=] { std::memcpy(to, from, static_cast<std::size_t>(size)); });
    }
    void fill_zero(void* memory, std::int64_t size) override {
        ask([=] { std::memset(memory, 0, static_cast<std::size_t>(size)); });
    }
    void record(Event event) override {
        auto moment = std::make_shared<Moment>();
        {
            EmulatedEvent& recorded = emulated(event);
            const std::lock_guard lock(recorded.mutex);
            recorded.last = moment;
        }
        put({[moment] { moment->reach(); }, false});
    }
    void wait(Event event) override {
        if (const auto moment = emulated(event).moment())
            put({[moment] { moment->wait(); }, false});
    }
    void ask(std::function<void()> work) override { put({std::move(work), true}); }
    void drain() override {
        {
            const races::Unseen unseen;
            std::unique_lock lock(mutex_);
            idle_.wait(lock, [&] { return asked_.empty() && !working_; });
        }
        races::after(this);
    }

private:
    struct Item {
        std::function<void()> run;
        bool touches_memory = false;
    };

    void put(Item item) {
        races::before(&asked_);
        const races::Unseen unseen;
        {
            const std::lock_guard lock(mutex_);
            asked_.push_back(std::move(item));
        }
        bell_.notify_all();
    }

    /// Works to the end of the queue: every recording that a wait waits for will be reached.
    void work() {
        for (;;) {
            const std::optional<Item> item = next();
            if (!item) return;
            races::after(&asked_);
            carry_out(*item);
            races::before(this);
        }
    }
    /// The next item, once there is one; nothing if there will be none.
    std::optional<Item> next() {
        const races::Unseen unseen;
        std::unique_lock lock(mutex_);
        working_ = false;
        if (asked_.empty()) idle_.notify_all();
        bell_.wait(lock, [&] { return over_ || !asked_.empty(); });
        if (asked_.empty()) return std::nullopt;
        Item item = std::move(asked_.front());
        asked_.pop_front();
        working_ = true;
        return item;
    }
    void carry_out(const Item& item) {
        if (!item.touches_memory) return item.run();
        if (delays_.count() > 0) std::this_thread::sleep_for(delays_);
        const Opened open(emulated_.memory(communicates_));
        try {
            item.run();
        } catch (...) {
            emulated_.failed(std::current_exception());
        }
    }

    EmulatedGpu& emulated_;
    bool communicates_;
    std::chrono::microseconds delays_;
    std::mutex mutex_;
    std::condition_variable bell_, idle_;
    std::deque<Item> asked_;
    bool working_ = false;
    bool over_ = false;
    std::thread thread_;
};

}  // namespace

std::byte* EmulatedGpu::reserve(Bytes size) {
    const std::lock_guard lock(mutex_);
    assert(!memory_ && "one arena");
    memory_ = std::make_shared<GuardedMemory>(size);
    announce(memory_);
    return memory_->begin();
}

void EmulatedGpu::add(Drained& queue) {
    const std::lock_guard lock(mutex_);
    all_queues_.push_back(&queue);
}

void EmulatedGpu::remove(Drained& queue) {
    const std::lock_guard lock(mutex_);
    std::erase(all_queues_, &queue);
}

void EmulatedGpu::drain() {
    std::vector<Drained*> queues;
    {
        const std::lock_guard lock(mutex_);
        queues = all_queues_;
    }
    for (Drained* queue : queues) queue->drain();
}

void EmulatedGpu::release() {
    drain();
    const std::lock_guard lock(mutex_);
    memory_.reset();
}

std::vector<std::shared_ptr<GuardedMemory>> EmulatedGpu::memory(bool of_all) {
    const races::Unseen unseen;
    if (of_all) return all_guarded_memory();
    const std::lock_guard lock(mutex_);
    if (!memory_) return {};
    return {memory_};
}

void EmulatedGpu::failed(std::exception_ptr failure) {
    const races::Unseen unseen;
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
}

std::unique_ptr<Queue> EmulatedGpu::make_queue(bool communicates) {
    const bool computes = queues_++ == 0;
    return std::make_unique<EmulatedQueue>(*this, communicates,
                                           computes ? delays_.compute : delays_.others);
}

Event EmulatedGpu::make_event() {
    ++events_;
    return reinterpret_cast<Event>(new EmulatedEvent);
}

void EmulatedGpu::destroy(Event event) noexcept {
    delete &emulated(event);
}

bool EmulatedGpu::reached(Event event) {
    const auto moment = emulated(event).moment();
    if (moment && !moment->at()) return false;
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    return true;
}

std::chrono::nanoseconds EmulatedGpu::between(Event earlier, Event later) {
    return *emulated(later).moment()->at() - *emulated(earlier).moment()->at();
}

void* EmulatedGpu::allocate(std::int64_t size) {
    ++allocations_;
    return std::malloc(static_cast<std::size_t>(size));
}

void EmulatedGpu::free(void* memory) noexcept {
    drain();
    std::free(memory);
}

void* EmulatedGpu::pin(std::int64_t size) {
    ++pins_;
    return std::malloc(static_cast<std::size_t>(size));
}

void EmulatedGpu::unpin(void* memory) noexcept {
    drain();
    std::free(memory);
}

EmulatedCounts EmulatedGpu::counts() const {
    return {queues_, events_, allocations_, pins_};
}

}  // namespace debubble::exec::cuda
