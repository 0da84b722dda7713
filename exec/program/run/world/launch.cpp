#include "exec/program/run/world/launch.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/comm/transports.h"
#include "exec/program/run/stopping.h"
#include "exec/program/run/world/same_run.h"

namespace debubble::exec {

namespace {

void check_size(int started, int wanted) {
    if (started != wanted)
        throw KnownToAll(fmt::format(
            "the scenario has {} ranks (tensor x context x data x pipeline), and {} {} started",
            wanted, started, started == 1 ? "process was" : "processes were"));
}

/// If MPI does not recognise the launcher of the processes, each process is a job of its own.
void check_joined(int joined, const ProcessPlace& place) {
    if (joined == 1 && place.size > 1)
        throw InputError(fmt::format(
            "{} processes were started together, but MPI has connected none of them: use --comm "
            "tcp, or the launcher of this MPI (its mpirun, or srun --mpi=pmix)",
            place.size));
}

std::unique_ptr<Communicator> connect_over_tcp(const JobMeeting& meeting) {
    TcpJob job = tcp_job(meeting.place, meeting.file);
    job.patience = meeting.patience;
    return connect_tcp(job);
}

}  // namespace

Transporter transporter_of(const std::string& comm, const ProcessPlace& place) {
    if (comm == "local") return Transporter::Threads;
    if (comm == "mpi") return Transporter::Mpi;
    if (comm == "tcp") return Transporter::Tcp;
    if (comm != "auto" && comm != "nccl")
        throw InputError(
            fmt::format("--comm is '{}'; it can be auto, local, mpi, tcp or nccl", comm));
    switch (place.starter) {
        case Starter::Nobody: return comm == "auto" ? Transporter::Threads : Transporter::Tcp;
        case Starter::Torchrun: return Transporter::Tcp;
        case Starter::Mpirun: return Transporter::Mpi;
        case Starter::Srun: return place.offers_pmi ? Transporter::Mpi : Transporter::Tcp;
    }
    return Transporter::Threads;
}

void run_ranks(Transporter transporter, int ranks, const JobMeeting& meeting,
               const std::function<void(Communicator&)>& body) {
    if (transporter != Transporter::Threads) {
        const std::unique_ptr<Communicator> world = transporter == Transporter::Mpi
                                                        ? connect_mpi(meeting.patience)
                                                        : connect_over_tcp(meeting);
        if (transporter == Transporter::Mpi) check_joined(world->size(), meeting.place);
        const RunFacts mine = abort_on_failure(*world, [&] { return meeting.facts(*world); });
        check_same_run(*world, mine, meeting.patience);
        check_size(world->size(), ranks);
        if (meeting.saves_in) check_folder_is_shared(*world, *meeting.saves_in, meeting.patience);
        return abort_on_failure(*world, [&] { body(*world); });
    }
    Watchdog watchdog(meeting.patience);
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
    if (::geteuid() == 0) {  // in containers, mpirun asks for both variables
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    ::execvp("mpirun", argv.data());
    throw WorldError(fmt::format("mpirun cannot be started: {}", std::strerror(errno)));
}

}  // namespace debubble::exec
