#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <thread>

#include <CLI/CLI.hpp>

#include "base/diagnostic.h"
#include "base/unknown_argument.h"
#include "exec/comm/communicator.h"
#include "exec/commands/commands.h"
#include "exec/run/launch.h"

/// The program `debubble-exec`: the verbs of `debubble` that compute on this machine.
namespace debubble::exec {
namespace {

ExitStatus run(int argc, char** argv) {
    CLI::App program("The verbs of debubble that compute on this machine.", "debubble");
    program.set_version_flag("--version", "debubble " DEBUBBLE_VERSION);
    program.require_subcommand(1);
    program.get_formatter()->column_width(34);
    ExitStatus answer = ExitStatus::Done;
    add_calibrate(program, answer);
    add_run(program, answer);
    add_sample(program, answer);
    add_export(program, answer);
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success& help_or_version) {
        program.exit(help_or_version);
    } catch (const CLI::ParseError& error) {
        refuse_arguments(program, error.what());
    }
    if (std::fflush(stdout) != 0) throw WorldError("standard output cannot be written");
    return answer;
}

/// Whoever started the processes ends all of them as soon as one has failed.
constexpr std::chrono::seconds kTimeToSpeak{2};

/// Or one that was told of no place among others.
bool is_first() {
    try {
        return process_place().rank == 0;
    } catch (const InputError&) {
        return true;
    }
}

/// Of several processes one speaks about what all of them find, and the others give it the time
/// to; it leaves to another only what it cannot know.
int end(const std::exception_ptr& error, bool all_know) {
    const Ending ending = ending_of(error);
    if (!all_know || is_first()) return report(ending);
    std::this_thread::sleep_for(kTimeToSpeak);
    return static_cast<int>(ending.status);
}

}  // namespace
}  // namespace debubble::exec

int main(int argc, char** argv) {
    using namespace debubble;
    std::signal(SIGPIPE, SIG_DFL);
    try {
        return static_cast<int>(exec::run(argc, argv));
    } catch (const NegativeAnswer&) {
        return exec::end(std::current_exception(), true);
    } catch (const InputError&) {
        return exec::end(std::current_exception(), true);
    } catch (const exec::Aborted&) {
        return exec::end(std::current_exception(), true);
    } catch (...) {
        return exec::end(std::current_exception(), false);
    }
}
