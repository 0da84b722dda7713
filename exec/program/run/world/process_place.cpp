#include "exec/program/run/world/launch.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "text/quantity.h"

namespace debubble::exec {

namespace {

std::string text_in(const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr ? text : "";
}

std::optional<int> number_in(const char* variable) {
    const auto number = text::parse_whole(text_in(variable));
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// The tasks on a node in Slurm's form: "4(x2),1" means 4, 4 and 1.
std::optional<int> tasks_on_node(const std::string& text, int node) {
    std::size_t at = 0;
    for (int before = 0; at < text.size(); ++at) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, end - at);
        const std::size_t times = part.find("(x");
        const auto tasks = text::parse_whole(part.substr(0, times));
        const auto nodes = times == std::string::npos
                               ? std::optional<std::int64_t>(1)
                               : text::parse_whole(part.substr(times + 2, part.size() - times - 3));
        if (!tasks || !nodes) return std::nullopt;
        before += static_cast<int>(*nodes);
        if (node < before) return static_cast<int>(*tasks);
        at = end;
    }
    return std::nullopt;
}

constexpr const char* kSecret = "DEBUBBLE_JOB_SECRET";
constexpr std::size_t kShortestSecret = 16;
constexpr const char* kHowToMakeOne =
    "make one, the same for all hosts, as export DEBUBBLE_JOB_SECRET=$(openssl rand -hex 32)";

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::optional<int> port_in(const char* variable) {
    const auto port = number_in(variable);
    return port && *port >= 1 && *port <= 0xffff ? port : std::nullopt;
}

/// A process that can reach the port and knows the secret passes for a rank.
void check_secret(const std::string& secret, const std::string& where) {
    if (secret.empty())
        throw InputError(fmt::format(
            "any process that reaches {} could pass for a rank of this job, which has no secret: "
            "{}, or give --rendezvous a file on a file system that all hosts share",
            where, kHowToMakeOne));
    if (secret.size() < kShortestSecret)
        throw InputError(fmt::format("{} has {} characters, which can be guessed: {}", kSecret,
                                     secret.size(), kHowToMakeOne));
}

/// A name that is the same for all processes of this host's job, and for no other job at the same
/// time; empty if none is known.
std::string name_of_job() {
    const bool meets = port_in("MASTER_PORT").has_value();
    if (!meets && text_in("SLURM_JOB_ID").empty() && text_in("PMIX_NAMESPACE").empty()) return "";
    std::string name = "job";
    for (const char* told : {"MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
                             "SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE"})
        name += '-' + text_in(told).substr(0, 32);
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
    return name;
}

/// Whether torchrun has set the variables of its own processes. A container that has only RANK and
/// WORLD_SIZE means its pod by them, and mpirun in it counts processes.
bool is_of_torchrun() {
    const bool tells_all = !text_in("RANK").empty() && !text_in("WORLD_SIZE").empty() &&
                           !text_in("LOCAL_RANK").empty();
    return tells_all || !text_in("TORCHELASTIC_RUN_ID").empty();
}

/// The port at which rank 0 listens. torchrun may use MASTER_PORT for a store of its own.
int own_port(int master_port) {
    if (!text_in("DEBUBBLE_PORT").empty()) {
        if (const auto port = port_in("DEBUBBLE_PORT")) return *port;
        throw InputError(
            fmt::format("DEBUBBLE_PORT is '{}', which is not a port", text_in("DEBUBBLE_PORT")));
    }
    if (text_in("TORCHELASTIC_USE_AGENT_STORE") != "True") return master_port;
    return master_port < 0xffff ? master_port + 1 : master_port - 1;
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
    constexpr Words kTorchrun{Starter::Torchrun, "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE",
                              "LOCAL_RANK"};
    std::array starters{
        Words{Starter::Mpirun, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
              "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
        Words{Starter::Mpirun, "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
        kTorchrun,
        Words{Starter::Srun, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE",
              "SLURM_LOCALID"}};
    // Slurm and mpirun also start torchrun's agents, which pass their own variables on.
    if (is_of_torchrun()) std::rotate(starters.begin(), starters.begin() + 2, starters.begin() + 3);
    const int node = number_in("SLURM_NODEID").value_or(0);
    for (const Words& words : starters) {
        const auto rank = number_in(words.rank), size = number_in(words.size);
        // A container may call itself rank 0 of 1, while the launcher inside it knows better.
        if (!size || *size <= 1 || text_in(words.rank).empty()) continue;
        if (!rank || *rank < 0 || *rank >= *size)
            throw InputError(fmt::format("{} is '{}', and {} is {}: that job has no such rank",
                                         words.rank, text_in(words.rank), words.size, *size));
        const bool by_srun = words.starter == Starter::Srun;
        const auto here = tasks_on_node(text_in(words.on_this_host), by_srun ? node : 0);
        return {*rank,
                *size,
                here.value_or(*size),
                number_in(words.rank_on_this_host).value_or(*rank),
                words.starter,
                here == *size,
                !by_srun || !text_in("PMIX_RANK").empty() || !text_in("PMI_RANK").empty()};
    }
    return {};
}

TcpJob tcp_job(const ProcessPlace& place, const std::string& file) {
    TcpJob job;
    job.rank = place.rank;
    job.ranks = place.size;
    const std::string secret = text_in(kSecret), host = text_in("MASTER_ADDR");
    job.secret = secret;
    job.one_host = place.one_host || is_loopback(host);
    job.file = file;
    if (!file.empty()) return job;
    const auto port = port_in("MASTER_PORT");
    if (job.one_host && (secret.empty() || host.empty() || !port)) {
        if (const std::string name = name_of_job(); !name.empty()) {
            job.file = private_folder() / name;
            job.file_is_held = true;
            return job;
        }
    }
    if (host.empty() || !port)
        throw InputError(
            "the meeting point of the ranks of --comm tcp is not given: set MASTER_ADDR and "
            "MASTER_PORT to "
            "an address and a free port of rank 0's host, or give --rendezvous a file that all "
            "ranks can read");
    check_secret(secret, fmt::format("{}:{}", host, *port));
    job.host = job.one_host ? "127.0.0.1" : host;
    job.port = *port;
    if (place.rank == 0) job.listening = number_in("DEBUBBLE_LISTENING").value_or(-1);
    if (job.listening < 0) job.port = own_port(*port);
    return job;
}

}  // namespace debubble::exec
