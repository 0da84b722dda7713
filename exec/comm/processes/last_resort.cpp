#include "exec/comm/processes/last_resort.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include <unistd.h>

namespace debubble::exec::processes {

namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 100ms;
constexpr auto kToSpeak = 2s;

}  // namespace

void say_error(const std::string& sentence) {
    const std::string line = fmt::format("error: {}\n", sentence);
    for (std::size_t at = 0; at < line.size();) {
        const ssize_t written = ::write(STDERR_FILENO, line.data() + at, line.size() - at);
        if (written <= 0) return;
        at += static_cast<std::size_t>(written);
    }
}

void end_process(const std::string& sentence) {
    try {
        std::thread([] {
            std::this_thread::sleep_for(kToSpeak);
            std::_Exit(3);
        }).detach();
    } catch (const std::exception&) {
        std::_Exit(3);
    }
    say_error(sentence);
    std::fflush(stdout);
    std::_Exit(3);
}

LastResort::LastResort() : thread_([this] { watch(); }) {}

LastResort::~LastResort() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void LastResort::call_it(std::string name) {
    const std::lock_guard lock(mutex_);
    name_ = std::move(name);
}

LastResort::Limit::Limit(LastResort& owner, std::string_view what, Deadline by) : owner_(owner) {
    const std::lock_guard lock(owner_.mutex_);
    wait_ = owner_.waits_.insert(owner_.waits_.end(), {what, Clock::now(), by});
}

LastResort::Limit::~Limit() {
    const std::lock_guard lock(owner_.mutex_);
    owner_.waits_.erase(wait_);
}

void LastResort::wire_works(Deadline by) {
    const std::lock_guard lock(mutex_);
    wire_ = {"", Clock::now(), by};
}

void LastResort::wire_has_returned() {
    const std::lock_guard lock(mutex_);
    wire_.reset();
}

std::optional<std::string> LastResort::overdue(Clock::time_point now) const {
    const auto seconds = [&](const Wait& wait) {
        return std::chrono::duration<double>(now - wait.since).count();
    };
    const bool stuck = wire_ && now > wire_->by;
    for (const Wait& wait : waits_) {
        if (stuck || now > wait.by)
            return fmt::format(
                "{} waited {:.3g} s for {}, and the transport of its bytes does not answer", name_,
                seconds(wait), wait.what);
    }
    if (!stuck) return std::nullopt;
    return fmt::format(
        "the transport of the bytes of {} has not answered for {:.3g} s: another rank has stopped, "
        "or cannot be reached",
        name_, seconds(*wire_));
}

void LastResort::watch() {
    std::unique_lock lock(mutex_);
    while (!over_) {
        changed_.wait_for(lock, kBetweenLooks);
        if (over_) return;
        if (const auto sentence = overdue(Clock::now())) {
            lock.unlock();
            end_process(*sentence);
        }
    }
}

}  // namespace debubble::exec::processes
