#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/arguments.h"
#include "base/diagnostic.h"
#include "exec/core/communicator/communicator.h"
#include "exec/program/commands/commands.h"
#include "exec/program/run/world/launch.h"

/// The program `debubble-exec`: the verbs of `debubble` that compute on this machine.
namespace debubble::exec {
namespace {

ExitStatus run(int argc, char** argv) {
    CLI::App program("The verbs of debubble that compute on this machine.", "debubble");
    program.set_version_flag("--version", "debubble " DEBUBBLE_VERSION);
    program.require_subcommand(1);
    program.get_formatter()->column_width(34);
    ExitStatus answer = ExitStatus::Done;
    add_verbs(program, answer);
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

/// The time for the first process to report: the launcher ends all processes as soon as one has
/// failed.
constexpr std::chrono::seconds kTimeToSpeak{2};

/// Whether this process is the first, or has no place among others.
bool is_first() {
    try {
        return process_place().rank == 0;
    } catch (const InputError&) {
        return true;
    }
}

/// The processes of a job that know of an error.
enum class Known { ToAll, ToAllPerhaps, Here };

/// Whether this program started the ranks: they are then on one host with one command line, so that
/// all find the same errors (start_ranks).
bool started_by_this_program() {
    return std::getenv("DEBUBBLE_LISTENING") != nullptr;
}

/// Reports an error and returns the exit code. The first of several processes reports the errors
/// that all of them find, and the others give it time to do so. A process that still runs after
/// that, and may have found an error that the first has not, reports too: its host's files may
/// differ.
int end(const std::exception_ptr& error, Known known) {
    const Ending ending = ending_of(error);
    if (known == Known::Here || is_first()) return report(ending);
    std::this_thread::sleep_for(kTimeToSpeak);
    if (known == Known::ToAll || started_by_this_program()) return static_cast<int>(ending.status);
    return report(
        {ending.status, fmt::format("rank {}: {}", process_place().rank, ending.message)});
}

}  // namespace
}  // namespace debubble::exec

int main(int argc, char** argv) {
    using namespace debubble;
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return static_cast<int>(exec::run(argc, argv));
    } catch (const exec::KnownToAll&) {
        return exec::end(std::current_exception(), exec::Known::ToAll);
    } catch (const exec::Aborted&) {
        return exec::end(std::current_exception(), exec::Known::ToAll);
    } catch (const NegativeAnswer&) {
        return exec::end(std::current_exception(), exec::Known::ToAllPerhaps);
    } catch (const InputError&) {
        return exec::end(std::current_exception(), exec::Known::ToAllPerhaps);
    } catch (...) {
        return exec::end(std::current_exception(), exec::Known::Here);
    }
}
