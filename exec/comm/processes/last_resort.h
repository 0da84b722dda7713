#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec::processes {

/// Writes "error: " and the sentence to standard error, past all buffers and locks.
void say_error(const std::string& sentence);

/// Says the sentence and ends the process with exit code 3, within two seconds whatever its other
/// threads do, and whether or not anybody reads what it prints.
[[noreturn]] void end_process(const std::string& sentence);

/// Ends the process when something lasts too long that nobody can end: a call of MPI that does not
/// return, and whoever waits for the lock that its thread holds. A thread of its own
/// looks; it takes no lock but this object's.
class LastResort {
    struct Wait {
        std::string_view what;
        Clock::time_point since;
        Deadline by;
    };

public:
    LastResort();
    ~LastResort();
    LastResort(const LastResort&) = delete;
    LastResort& operator=(const LastResort&) = delete;

    /// How sentences call this process from then on, which is "this process" before.
    void call_it(std::string name);

    /// A wait, while this lives, that is to be over by the deadline. `what` outlives it.
    class Limit {
    public:
        Limit(LastResort& owner, std::string_view what, Deadline by);
        ~Limit();
        Limit(const Limit&) = delete;
        Limit& operator=(const Limit&) = delete;

    private:
        LastResort& owner_;
        std::list<Wait>::iterator wait_;
    };

    /// What carries the bytes is at work from now on, and is to have returned by the deadline.
    void wire_works(Deadline by);
    void wire_has_returned();

private:
    void watch();
    std::optional<std::string> overdue(Clock::time_point now) const;

    std::mutex mutex_;
    std::condition_variable bell_;
    std::string name_ = "this process";
    std::list<Wait> waits_;  ///< the oldest first
    std::optional<Wait> wire_;
    bool over_ = false;
    std::thread thread_;
};

}  // namespace debubble::exec::processes
