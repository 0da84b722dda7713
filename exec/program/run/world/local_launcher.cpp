#include "exec/program/run/world/launch.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/comm/transports.h"

namespace debubble::exec {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Ranks that hear of a failure take at most 4 s to say goodbye (comm/processes/engine.h).
constexpr auto kToEndThemselves = 8s;
constexpr auto kAfterSigterm = 3s;
/// Signals this close to each other count as one: a terminal, a shell and `timeout` may all send
/// it.
constexpr auto kSameSignal = 300ms;

sigset_t heard_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
    return set;
}

struct StartedRank {
    pid_t process = 0;
    std::optional<int> status;  ///< status of waitpid, once the process has ended
    bool stands_still = false;  ///< stopped by a signal such as SIGSTOP
    bool failed() const { return status && *status != 0; }
};

class LocalJob {
public:
    explicit LocalJob(int ranks) : ranks_(ranks) {
        const sigset_t heard = heard_signals();
        sigprocmask(SIG_BLOCK, &heard, &before_);
    }
    ~LocalJob() {
        signal_all(SIGKILL);
        for (StartedRank& rank : ranks_)
            if (is_up(rank)) ::waitpid(rank.process, nullptr, 0);
        sigprocmask(SIG_SETMASK, &before_, nullptr);
    }
    LocalJob(const LocalJob&) = delete;
    LocalJob& operator=(const LocalJob&) = delete;

    void start(const std::vector<std::string>& arguments) {
        const TcpListener listener = listen_here();
        const std::string secret = fresh_job_secret();
        ::setenv("MASTER_ADDR", "127.0.0.1", 1);
        ::setenv("MASTER_PORT", std::to_string(listener.port).c_str(), 1);
        ::setenv("DEBUBBLE_JOB_SECRET", secret.c_str(), 1);
        ::setenv("DEBUBBLE_LISTENING", std::to_string(listener.descriptor).c_str(), 1);
        ::unsetenv("TORCHELASTIC_USE_AGENT_STORE");
        ::unsetenv("DEBUBBLE_PORT");
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            ::setenv("RANK", std::to_string(rank).c_str(), 1);
            ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
            for (const char* size : {"WORLD_SIZE", "LOCAL_WORLD_SIZE"})
                ::setenv(size, std::to_string(ranks_.size()).c_str(), 1);
            start_one(ranks_[rank], arguments, rank == 0 ? listener.descriptor : -1);
        }
        ::close(listener.descriptor);
    }

    /// Waits for all ranks. Returns the exit code of the job.
    int wait() {
        std::optional<Clock::time_point> failed_at;
        while (std::ranges::any_of(ranks_, is_up)) {
            hear_signal();
            collect();
            if (!failed_at && first_failure_) failed_at = Clock::now();
            if (!failed_at) continue;
            end_who_stands_still();
            const auto since = Clock::now() - *failed_at;
            if (since > kToEndThemselves + kAfterSigterm) {
                signal_all(SIGKILL);
            } else if (since > kToEndThemselves && !std::exchange(told_to_end_, true)) {
                signal_all(SIGTERM);
                signal_all(SIGCONT);
            }
        }
        return verdict();
    }

private:
    static bool is_up(const StartedRank& rank) { return rank.process > 0 && !rank.status; }

    void start_one(StartedRank& rank, const std::vector<std::string>& arguments, int inherits) {
        std::vector<std::string> words{std::filesystem::read_symlink("/proc/self/exe").string()};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        const pid_t parent = ::getpid();
        rank.process = ::fork();
        if (rank.process < 0)
            throw WorldError(fmt::format("a rank cannot be started: {}", std::strerror(errno)));
        if (rank.process > 0) return;
        // The rank has a process group of its own: a signal of the terminal reaches it once,
        // through the parent.
        ::setpgid(0, 0);
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) ::_exit(3);
        sigprocmask(SIG_SETMASK, &before_, nullptr);
        if (inherits >= 0) ::fcntl(inherits, F_SETFD, 0);
        ::execv(argv[0], argv.data());
        ::_exit(3);
    }

    /// Waits for a signal, for a moment at most.
    void hear_signal() {
        const sigset_t heard = heard_signals();
        const timespec moment{0, 200'000'000};
        const int signal = ::sigtimedwait(&heard, nullptr, &moment);
        if (signal <= 0 || signal == SIGCHLD) return;
        if (passed_on_ && Clock::now() - *passed_on_ < kSameSignal) return;
        passed_on_ = Clock::now();
        signal_all(SIGTERM);
    }

    void collect() {
        for (StartedRank& rank : ranks_) {
            int status = 0;
            const int which = WNOHANG | WUNTRACED | WCONTINUED;
            if (!is_up(rank) || ::waitpid(rank.process, &status, which) != rank.process) continue;
            rank.stands_still = WIFSTOPPED(status);
            if (WIFSTOPPED(status) || WIFCONTINUED(status)) continue;
            rank.status = status;
            if (rank.failed() && !first_failure_)
                first_failure_ = static_cast<std::size_t>(&rank - ranks_.data());
        }
        // If several ranks are found ended together, one that was ended from outside is the cause.
        if (told_to_end_ || ended_some_ || !first_failure_ ||
            WIFSIGNALED(*ranks_[*first_failure_].status))
            return;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
            if (ranks_[rank].status && WIFSIGNALED(*ranks_[rank].status)) first_failure_ = rank;
    }

    /// Ends ranks that are stopped, once another has failed: they do not react to it and have
    /// nothing to say.
    void end_who_stands_still() {
        for (const StartedRank& rank : ranks_) {
            if (!is_up(rank) || !rank.stands_still) continue;
            ended_some_ = true;
            ::kill(rank.process, SIGKILL);
        }
    }

    void signal_all(int signal) const {
        for (const StartedRank& rank : ranks_)
            if (is_up(rank)) ::kill(rank.process, signal);
    }

    int verdict() const {
        if (!first_failure_) return 0;
        const StartedRank& rank = ranks_[*first_failure_];
        if (WIFSIGNALED(*rank.status))
            throw WorldError(fmt::format("rank {} (process {}) was ended by signal {}: {}",
                                         *first_failure_, rank.process, WTERMSIG(*rank.status),
                                         ::strsignal(WTERMSIG(*rank.status))));
        return WEXITSTATUS(*rank.status);
    }

    std::vector<StartedRank> ranks_;
    sigset_t before_{};
    std::optional<std::size_t> first_failure_;
    std::optional<Clock::time_point> passed_on_;
    bool told_to_end_ = false;
    bool ended_some_ = false;
};

}  // namespace

int start_ranks(int ranks, const std::vector<std::string>& arguments) {
    LocalJob job(ranks);
    job.start(arguments);
    return job.wait();
}

}  // namespace debubble::exec
