#include "sim/grid/sweep.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::sim {
namespace {

using Variable = std::function<const char*(const char*)>;

std::optional<long> number_in(std::string_view text) {
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<long> number_of(const Variable& variable, const char* name) {
    const char* text = variable(name);
    if (text == nullptr || *text == '\0') return std::nullopt;
    const auto value = number_in(text);
    if (!value) throw InputError(fmt::format("{}: '{}' is not a number", name, text));
    return value;
}

WorkerPlace checked_place(long index, long count, const std::string& from) {
    if (count < 1 || count > kMostWorkers || index < 0 || index >= count)
        throw InputError(fmt::format(
            "{}: there is no worker {} of {}; of N workers, at most {}, the first is 0/N and the "
            "last N-1/N",
            from, index, count, kMostWorkers));
    return {static_cast<int>(index), static_cast<int>(count)};
}

WorkerPlace task_of_array(const Variable& variable) {
    const auto id = number_of(variable, "SLURM_ARRAY_TASK_ID");
    const auto count = number_of(variable, "SLURM_ARRAY_TASK_COUNT");
    if (!id || !count) return {};
    const long first = number_of(variable, "SLURM_ARRAY_TASK_MIN").value_or(0);
    const long step = number_of(variable, "SLURM_ARRAY_TASK_STEP").value_or(1);
    return checked_place((*id - first) / std::max(1L, step), *count, "SLURM_ARRAY_TASK_ID");
}

WorkerPlace rank_of_job(const Variable& variable) {
    constexpr const char* kLaunchers[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                             {"PMI_RANK", "PMI_SIZE"},
                                             {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (const auto& [of_rank, of_size] : kLaunchers) {
        const auto rank = number_of(variable, of_rank);
        const auto size = number_of(variable, of_size);
        if (rank && size) return checked_place(*rank, *size, of_rank);
    }
    return {};
}

}  // namespace

WorkerPlace parse_worker_place(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto index = number_in(std::string_view(text).substr(0, slash));
    const auto count = slash == std::string::npos
                           ? std::nullopt
                           : number_in(std::string_view(text).substr(slash + 1));
    if (!index || !count)
        throw InputError(fmt::format("--worker takes a place like 3/8, not '{}'", text));
    return checked_place(*index, *count, "--worker");
}

std::optional<WorkerPlace> launched_place(const Variable& variable) {
    const WorkerPlace task = task_of_array(variable);
    const WorkerPlace rank = rank_of_job(variable);
    const long count = long{task.count} * rank.count;
    if (count == 1) return std::nullopt;
    return checked_place(long{task.index} * rank.count + rank.index, count,
                         "the launcher's variables");
}

}  // namespace debubble::sim
