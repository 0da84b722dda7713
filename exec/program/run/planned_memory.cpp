#include "exec/program/run/planned_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "exec/program/run/simulate_beside.h"

namespace debubble::exec {

namespace {

/// What the executor does, with what the scenario may choose of it.
std::string framework_as_executed(const scenarios::Framework& framework) {
    std::string text =
        fmt::format("framework={{base: debubble, post_validation: {}", framework.post_validation);
    if (framework.loss == models::LossKernel::Chunked) text += ", loss: chunked";
    if (framework.offload_buffer.count > 0)
        text += fmt::format(", offload_buffer: {} KiB", framework.offload_buffer.count / 1024);
    return text + "}";
}

/// The first number of a file; the largest there is where it has none.
std::int64_t bytes_in(const char* file) {
    std::int64_t number = 0;
    return std::ifstream(file) >> number ? number : std::numeric_limits<std::int64_t>::max();
}

std::int64_t available_in_machine() {
    std::ifstream file("/proc/meminfo");
    std::string word;
    std::int64_t kilobytes = 0;
    while (file >> word)
        if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
    return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
}

}  // namespace

std::vector<Bytes> planned_memory(const std::string& scenario, const std::vector<std::string>& set,
                                  const scenarios::Scenario& read) {
    std::vector<std::string> as_executed = set;
    as_executed.push_back(framework_as_executed(read.framework));
    std::optional<std::string> report;
    try {
        report = simulate_beside(scenario, as_executed, "--json", Mistakes::Unsaid);
    } catch (const WorldError&) {  // of a temporary file: the run can do without
    }
    if (!report) return {};
    const auto json = nlohmann::json::parse(*report, nullptr, false);
    if (!json.is_object() || !json.contains("ranks") || !json["ranks"].is_array()) return {};
    std::vector<Bytes> planned;
    for (const auto& rank : json["ranks"]) {
        const std::int64_t none = 0;
        planned.push_back(Bytes{rank.is_object() ? rank.value("peak_memory_bytes", none) : none});
    }
    return planned;
}

Bytes available_memory() {
    std::int64_t available = available_in_machine();
    const std::int64_t limit = bytes_in("/sys/fs/cgroup/memory.max");
    const std::int64_t used = bytes_in("/sys/fs/cgroup/memory.current");
    if (used < limit) available = std::min(available, limit - used);
    return Bytes{available};
}

void check_memory(const std::vector<Bytes>& planned, const scenarios::Parallel& parallel,
                  Bytes available) {
    const int replicas = parallel.gpus() / parallel.pipeline;  // of each pipeline rank
    const Bytes needed = std::accumulate(planned.begin(), planned.end(), Bytes{}) * replicas;
    if (needed <= available) return;
    const auto ranks = planned.size() * static_cast<std::size_t>(replicas);
    const std::string who =
        ranks == 1 ? fmt::format("the rank needs {:.3g} GiB", gib(needed))
                   : fmt::format("the {} ranks need {:.3g} GiB, {:.3g} GiB on the fullest", ranks,
                                 gib(needed), gib(*std::ranges::max_element(planned)));
    throw WorldError(
        fmt::format("by its plan {}; this machine has {:.3g} GiB left", who, gib(available)));
}

}  // namespace debubble::exec
