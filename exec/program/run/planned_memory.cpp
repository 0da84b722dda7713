#include "exec/program/run/prepare_run.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <limits>
#include <mutex>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/parallel.h"
#include "exec/core/stage/operators/executor_scenario.h"
#include "sim/predict.h"

namespace debubble::exec {

namespace {

constexpr std::chrono::minutes kPatience{5};

/// Requests a stop after `kPatience`, unless this object is destroyed before.
class Patience {
public:
    std::stop_token token() const { return over_.get_token(); }

private:
    void watch(const std::stop_token& gone) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any never;
        never.wait_for(lock, gone, kPatience, [] { return false; });
        if (!gone.stop_requested()) over_.request_stop();
    }
    std::stop_source over_;
    std::jthread watch_{[this](const std::stop_token& gone) { watch(gone); }};
};

/// The first number in a file; the largest integer if there is none.
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

std::vector<Bytes> planned_memory(const scenarios::Scenario& scenario,
                                  const scenarios::Plan* plan) {
    const Patience patience;
    std::vector<Bytes> planned;
    try {
        const sim::PredictOptions how{.keep_trace = false,
                                      .play_allocator = false,
                                      .plan_run = false,
                                      .stop = patience.token(),
                                      .plan = plan};
        for (const auto& rank : sim::predict(executor_scenario(scenario), how).prediction.ranks)
            planned.push_back(rank.peak_memory);
    } catch (const InputError&) {
    } catch (const NegativeAnswer&) {
    } catch (const Cancelled&) {
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
    const int replicas = parallel.gpus() / parallel.pipeline;  // ranks of each pipeline position
    const Bytes needed = std::accumulate(planned.begin(), planned.end(), Bytes{}) * replicas;
    if (needed <= available) return;
    const auto ranks = planned.size() * replicas;
    const std::string who =
        ranks == 1 ? fmt::format("the rank needs {:.3g} GiB", gib(needed))
                   : fmt::format("the {} ranks need {:.3g} GiB, {:.3g} GiB on the fullest", ranks,
                                 gib(needed), gib(*std::ranges::max_element(planned)));
    throw WorldError(
        fmt::format("by the prediction {}; this machine has {:.3g} GiB left", who, gib(available)));
}

}  // namespace debubble::exec
