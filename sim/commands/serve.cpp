#include <cerrno>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"

/// `debubble serve`: the Python package's server for agents and editors.
namespace debubble::sim {
namespace {

constexpr const char* kServeFooter =
    R"(It speaks JSON-RPC over standard input and output, as the Model Context Protocol has it: simulate, sweep,
search, explain_key, import_job, compare, model and names, each with the schema of what it takes. It
keeps no state and writes no file; answers are bounded, and late ones are given up. Needs python3 with
debubble's package: pip install 'debubble[serve]'.

Example:
  npx @modelcontextprotocol/inspector debubble serve)";

void become_server() {
    if (::execlp("python3", "python3", "-m", "debubble.serve", nullptr) == 0) return;
    throw WorldError(fmt::format("python3 cannot be started: {}", std::strerror(errno)));
}

bool package_is_there() {
    const pid_t child = ::fork();
    if (child == 0) {
        ::execlp(
            "python3", "python3", "-c",
            "import importlib.util, sys; sys.exit(importlib.util.find_spec('debubble') is None)",
            nullptr);
        ::_exit(127);
    }
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

void add_serve(CLI::App& program, ExitStatus& answer) {
    CLI::App* verb =
        program.add_subcommand("serve", "answer agents and editors over standard input (MCP)");
    verb->footer(kServeFooter);
    verb->callback([&answer] {
        if (!package_is_there())
            throw WorldError(
                "'serve' needs debubble's Python package, which python3 does not find: pip install "
                "'debubble[serve]'");
        become_server();
        answer = ExitStatus::World;
    });
}

}  // namespace debubble::sim
