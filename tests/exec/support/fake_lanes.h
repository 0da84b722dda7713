#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "exec/core/device_lanes.h"

namespace debubble::exec {

/// Lanes that are threads of the host: a lane does its work in order, later, and may take for ever.
/// They are for communicators whose "device" is the host's memory.
class FakeLanes : public DeviceLanes {
public:
    using Task = std::function<void()>;
    struct Moment {
        std::mutex mutex;
        std::condition_variable bell;
        bool reached = false;
        std::chrono::steady_clock::time_point at;
    };

    FakeLanes() {
        for (int i = 0; i < 2; ++i) lanes_.push_back(std::make_unique<Lane>());
    }
    void ask(DeviceLane lane, Task task) { at(lane).push(std::move(task)); }
    std::shared_ptr<Moment> moment(DeviceLane lane) {
        auto moment = std::make_shared<Moment>();
        ask(lane, [moment] {
            const std::lock_guard lock(moment->mutex);
            moment->reached = true;
            moment->at = std::chrono::steady_clock::now();
            moment->bell.notify_all();
        });
        return moment;
    }
    static bool is_reached(Moment& moment) {
        const std::lock_guard lock(moment.mutex);
        return moment.reached;
    }

    DeviceLane lane(const std::string& name) override {
        const std::lock_guard lock(mutex_);
        const auto [found, is_new] =
            names_.try_emplace(name, DeviceLane{static_cast<std::int32_t>(lanes_.size())});
        if (is_new) lanes_.push_back(std::make_unique<Lane>());
        return found->second;
    }
    void begin_step() override { finish(); }
    void finish() override {
        for (std::size_t i = 0; i < count(); ++i) {
            const auto end = moment(DeviceLane{static_cast<std::int32_t>(i)});
            std::unique_lock lock(end->mutex);
            end->bell.wait(lock, [&] { return end->reached; });
        }
    }
    void set_patience(std::chrono::nanoseconds) override {}
    Mark mark(DeviceLane lane) override {
        auto end = moment(lane);
        const std::lock_guard lock(mutex_);
        marks_.push_back(std::move(end));
        return {static_cast<std::int32_t>(marks_.size() - 1)};
    }
    using DeviceLanes::wait;
    void wait(DeviceLane lane, DeviceLanes& of, Mark mark) override {
        ask(lane, [moment = static_cast<FakeLanes&>(of).of(mark)] {
            std::unique_lock lock(moment->mutex);
            moment->bell.wait(lock, [&] { return moment->reached; });
        });
    }
    std::vector<MarkedInterval> holds() override { return holds_; }
    bool reached(Mark mark) override { return is_reached(*of(mark)); }
    std::chrono::steady_clock::time_point time_of(Mark mark) override { return of(mark)->at; }
    std::chrono::nanoseconds clock_error() override { return {}; }
    void copy(DeviceLane, const std::byte*, std::byte*, Bytes) override {}
    void reduce(DeviceLane, std::span<const std::byte* const>, std::span<std::byte* const>,
                DataType, Reduction, std::int64_t) override {}
    int most_parties() const override { return 8; }
    std::int32_t memory() const override { return 0; }
    std::byte* pin(Bytes size) override {
        return new std::byte[static_cast<std::size_t>(size.count)];
    }
    void unpin(std::byte* memory) noexcept override { delete[] memory; }

private:
    class Lane {
    public:
        Lane() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
        void push(Task task) {
            const std::lock_guard lock(mutex_);
            tasks_.push_back(std::move(task));
            changed_.notify_all();
        }

    private:
        void run(const std::stop_token& stop) {
            std::unique_lock lock(mutex_);
            while (changed_.wait(lock, stop, [&] { return !tasks_.empty(); })) {
                const Task task = std::move(tasks_.front());
                tasks_.pop_front();
                lock.unlock();
                task();
                lock.lock();
            }
        }
        std::mutex mutex_;
        std::condition_variable_any changed_;
        std::deque<Task> tasks_;
        std::jthread thread_;
    };

    std::size_t count() {
        const std::lock_guard lock(mutex_);
        return lanes_.size();
    }
    Lane& at(DeviceLane lane) {
        const std::lock_guard lock(mutex_);
        return *lanes_.at(static_cast<std::size_t>(lane.number));
    }
    std::shared_ptr<Moment> of(Mark mark) {
        const std::lock_guard lock(mutex_);
        return marks_.at(static_cast<std::size_t>(mark.number));
    }
    void note_hold(MarkedInterval hold) override { holds_.push_back(hold); }

    std::mutex mutex_;
    std::map<std::string, DeviceLane> names_;
    std::vector<std::shared_ptr<Moment>> marks_;
    std::vector<MarkedInterval> holds_;
    std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace debubble::exec
