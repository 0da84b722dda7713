#include "exec/program/run/simulate_beside.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::exec {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kPatience{5};

/// A file of our own that goes when this does.
class TemporaryFile {
public:
    TemporaryFile() {
        std::string name = (fs::temp_directory_path() / "debubble-XXXXXX").string();
        const int file = ::mkstemp(name.data());
        if (file < 0) throw WorldError(fmt::format("no temporary file like {}", name));
        ::close(file);
        path_ = name;
    }
    ~TemporaryFile() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// What a child need not know: the job's secret, and which socket its first rank listens at.
constexpr std::array<std::string_view, 2> kOwnVariables{"DEBUBBLE_JOB_SECRET=",
                                                        "DEBUBBLE_LISTENING="};

std::vector<char*> environment_of_child() {
    std::vector<char*> kept;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const auto is_this = [&](std::string_view own) {
            return std::string_view(*variable).starts_with(own);
        };
        if (std::ranges::none_of(kOwnVariables, is_this)) kept.push_back(*variable);
    }
    kept.push_back(nullptr);
    return kept;
}

/// All but the standard streams: connections to other ranks, and devices.
void close_in_child(posix_spawn_file_actions_t& actions) {
    std::error_code unknown;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd", unknown)) {
        const int descriptor = std::atoi(entry.path().filename().c_str());
        if (descriptor > STDERR_FILENO) posix_spawn_file_actions_addclose(&actions, descriptor);
    }
}

/// Its exit code. What it prints goes nowhere, but for its mistakes if they are to be said.
int run_quietly(const fs::path& program, std::vector<std::string> words, Mistakes mistakes) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (mistakes == Mistakes::Unsaid)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    close_in_child(actions);
    std::vector<char*> environment = environment_of_child();
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t nothing;  // is blocked in the child, whatever is here
    sigemptyset(&nothing);
    posix_spawnattr_setsigmask(&attributes, &nothing);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int error = posix_spawn(&child, program.c_str(), &actions, &attributes, argv.data(),
                                  environment.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return -1;
    int status = 0;
    pid_t ended = 0;
    const auto asked = std::chrono::steady_clock::now();
    while ((ended = ::waitpid(child, &status, WNOHANG)) == 0) {
        if (std::chrono::steady_clock::now() - asked > kPatience) {
            ::kill(child, SIGKILL);
            ended = ::waitpid(child, &status, 0);
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::string program_beside() {
    std::error_code unknown;
    return (fs::read_symlink("/proc/self/exe", unknown).parent_path() / "debubble").string();
}

std::optional<std::string> simulate_beside(const std::string& scenario,
                                           const std::vector<std::string>& set,
                                           const std::string& output, Mistakes mistakes) {
    const TemporaryFile file;
    std::vector<std::string> words{"debubble", "simulate", scenario, output, file.path().string()};
    for (const std::string& each : set) {
        words.emplace_back("--set");
        words.push_back(each);
    }
    const int code = run_quietly(program_beside(), std::move(words), mistakes);
    if (code != 0 && code != 1)  // 1: it would not fit on the cluster, which is not this machine
        return std::nullopt;
    return read_file(file.path().string());
}

}  // namespace debubble::exec
