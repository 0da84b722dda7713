#include "exec/run/process_place.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "models/quantity.h"

namespace debubble::exec {

namespace {

std::string text_in(const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr ? text : "";
}

std::optional<int> number_in(const char* variable) {
    const auto number = models::parse_whole(text_in(variable));
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// Of Slurm, node by node: "4(x2),1" says 4, 4 and 1.
std::optional<int> tasks_on_node(const std::string& text, int node) {
    std::size_t at = 0;
    for (int before = 0; at < text.size(); ++at) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, end - at);
        const std::size_t times = part.find("(x");
        const auto tasks = models::parse_whole(part.substr(0, times));
        const auto nodes =
            times == std::string::npos
                ? std::optional<std::int64_t>(1)
                : models::parse_whole(part.substr(times + 2, part.size() - times - 3));
        if (!tasks || !nodes) return std::nullopt;
        before += static_cast<int>(*nodes);
        if (node < before) return static_cast<int>(*tasks);
        at = end;
    }
    return std::nullopt;
}

}  // namespace

ProcessPlace process_place() {
    struct Words {
        Starter starter;
        const char* rank;
        const char* size;
        const char* on_this_host;
        const char* rank_on_this_host;
    };
    constexpr std::array kStarters{
        Words{Starter::Mpirun, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
              "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
        Words{Starter::Mpirun, "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
        Words{Starter::Torchrun, "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "LOCAL_RANK"},
        Words{Starter::Srun, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE",
              "SLURM_LOCALID"}};
    const int node = number_in("SLURM_NODEID").value_or(0);
    for (const Words& words : kStarters) {
        const auto rank = number_in(words.rank), size = number_in(words.size);
        // A container may call itself rank 0 of 1, and what was started in it knows better.
        if (!size || *size <= 1 || text_in(words.rank).empty()) continue;
        if (!rank || *rank < 0 || *rank >= *size)
            throw InputError(fmt::format("{} is '{}', and {} is {}: no rank of that job",
                                         words.rank, text_in(words.rank), words.size, *size));
        return {
            *rank, *size,
            tasks_on_node(text_in(words.on_this_host), words.starter == Starter::Srun ? node : 0)
                .value_or(*size),
            number_in(words.rank_on_this_host).value_or(*rank), words.starter};
    }
    return {};
}

TcpJob tcp_job(const ProcessPlace& place, const std::string& file) {
    TcpJob job;
    job.rank = place.rank;
    job.ranks = place.size;
    // Others do not tell for sure how many there are on each host.
    job.one_host = place.starter == Starter::Torchrun && place.on_this_host == place.size;
    job.file = file;
    for (const char* told :
         {"DEBUBBLE_JOB_SECRET", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "SLURM_STEP_ID"})
        job.secret += text_in(told) + '/';
    if (!file.empty()) return job;
    const auto port = number_in("MASTER_PORT");
    job.host = text_in("MASTER_ADDR");
    if (job.host.empty() || !port || *port < 1 || *port > 0xffff)
        throw InputError(
            "where the ranks of --comm tcp meet is not said: set MASTER_ADDR and MASTER_PORT to "
            "an address and a free port of rank 0's host, or give --rendezvous a file that all "
            "ranks can read");
    // torchrun's own store sits at that port, unless it is told otherwise.
    if (text_in("TORCHELASTIC_USE_AGENT_STORE") == "True")
        throw InputError(
            fmt::format("torchrun keeps port {} for a store of its own: start it with "
                        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1, or give --rendezvous a file",
                        *port));
    job.port = *port;
    if (place.rank == 0) job.listening = number_in("DEBUBBLE_LISTENING").value_or(-1);
    return job;
}

}  // namespace debubble::exec
