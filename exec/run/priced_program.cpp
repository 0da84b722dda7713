#include "exec/run/priced_program.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "schedule/exporters/chrome_trace.h"
#include "schedule/generators/generators.h"

namespace debubble::exec {

namespace {

namespace fs = std::filesystem;

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

/// Its exit code. What it prints goes nowhere but for its mistakes.
int run_quietly(const fs::path& program, std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return -1;
    int status = 0;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

Program predicted_program(const RunRequest& request) {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "debubble";
    const TemporaryFile trace;
    std::vector<std::string> words{"debubble", "simulate", request.scenario, "--trace",
                                   trace.path().string()};
    for (const std::string& set : request.set) {
        words.emplace_back("--set");
        words.push_back(set);
    }
    const int code = run_quietly(program, std::move(words));
    if (code != 0 && code != 1)  // 1: it would not fit on the cluster, which is not this machine
        throw WorldError(
            fmt::format("this schedule is made from predicted costs, and {} simulate "
                        "did not give them",
                        program.string()));
    return read_chrome_trace(read_file(trace.path()), trace.path().string()).program;
}

}  // namespace

scenarios::Plan plan_for_run(const RunRequest& request, const scenarios::Scenario& scenario) {
    scenarios::Plan plan = scenarios::make_plan(scenario);
    const Generator* generator = find_generator(scenario.schedule.name);
    const bool needs_costs =
        scenario.schedule.csv.empty() && generator != nullptr && generator->uses_costs;
    if (needs_costs) plan.program = predicted_program(request);
    return plan;
}

}  // namespace debubble::exec
