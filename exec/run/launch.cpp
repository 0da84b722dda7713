#include "exec/run/launch.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/comm/local.h"
#include "exec/comm/mpi.h"
#include "exec/run/watchdog.h"
#include "models/quantity.h"

namespace debubble::exec {

namespace {

std::optional<int> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    const auto number = text != nullptr ? models::parse_whole(text) : std::nullopt;
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

void check_size(int started, int wanted) {
    if (started != wanted)
        throw InputError(fmt::format(
            "the scenario has {} ranks (tensor x context x data x pipeline), and {} {} started",
            wanted, started, started == 1 ? "process was" : "processes were"));
}

}  // namespace

ProcessPlace process_place() {
    struct Words {
        const char* rank;
        const char* size;
        const char* on_this_host;
        const char* rank_on_this_host;
    };
    constexpr std::array kLaunchers{
        Words{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
              "OMPI_COMM_WORLD_LOCAL_RANK"},
        Words{"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
        Words{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE",
              "SLURM_LOCALID"}};
    for (const Words& words : kLaunchers) {
        const auto rank = number_in(words.rank), size = number_in(words.size);
        if (rank && size)
            return {*rank, *size, number_in(words.on_this_host).value_or(*size),
                    number_in(words.rank_on_this_host).value_or(*rank)};
    }
    return {};
}

Transporter transporter_of(const std::string& comm, const ProcessPlace& place) {
    if (comm == "local") return Transporter::Threads;
    if (comm == "mpi") return Transporter::Processes;
    if (comm == "auto") return place.size > 1 ? Transporter::Processes : Transporter::Threads;
    throw InputError(fmt::format("--comm is '{}'; it can be auto, local or mpi", comm));
}

void run_ranks(Transporter transporter, int ranks, std::chrono::nanoseconds patience,
               const std::function<void(Communicator&)>& body) {
    if (transporter == Transporter::Processes) {
        const std::unique_ptr<Communicator> world = connect_mpi();
        check_size(world->size(), ranks);
        try {
            return body(*world);
        } catch (const Aborted&) {
            throw;
        } catch (const std::exception& error) {
            world->abort(error.what());
            throw;
        }
    }
    Watchdog watchdog(patience);
    run_local(ranks, Transport::Buffered, [&](Communicator& world) {
        try {
            body(world);
        } catch (const std::exception& error) {
            watchdog.failed(error.what());
            throw;
        }
    });
}

void become_mpirun(int ranks, const std::vector<std::string>& arguments) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    std::vector<std::string> words{"mpirun", "-n", std::to_string(ranks), self};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (::geteuid() == 0) {  // containers; mpirun wants it said twice
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    ::execvp("mpirun", argv.data());
    throw WorldError(fmt::format("mpirun cannot be started: {}", std::strerror(errno)));
}

}  // namespace debubble::exec
