#include "exec/run/simulate_beside.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
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
    pid_t child = 0;
    const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
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
