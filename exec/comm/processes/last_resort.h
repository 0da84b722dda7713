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

/// Writes "error: " and the sentence to standard error, bypassing all buffers and locks.
void say_error(const std::string& sentence);

/// Prints the sentence and ends the process with exit code 3, within two seconds whatever its other
/// threads do, and whether or not the output is read.
[[noreturn]] void end_process(const std::string& sentence);

/// Ends the process when something takes too long that no thread can end: a call of MPI that does
/// not return, and the threads that wait for the lock which its thread holds. A thread of its own
/// watches; it takes no lock but this object's.
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

    /// Sets the name by which sentences call this process; before that it is "this process".
    void call_it(std::string name);

    /// A wait that is to be over by the deadline, for as long as this object lives. `what` outlives
    /// it.
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

    /// The transport of the bytes is at work from this moment and is to have returned by the
    /// deadline.
    void wire_works(Deadline by);
    void wire_has_returned();

private:
    void watch();
    std::optional<std::string> overdue(Clock::time_point now) const;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::string name_ = "this process";
    std::list<Wait> waits_;  ///< the oldest first
    std::optional<Wait> wire_;
    bool over_ = false;
    std::thread thread_;
};

}  // namespace debubble::exec::processes
