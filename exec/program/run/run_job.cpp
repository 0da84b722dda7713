#include "exec/program/run/run_job.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/cpu/workers.h"
#include "exec/cuda/gpu_placement.h"
#include "exec/cuda/nccl/setup.h"
#include "scenarios/plan/derived.h"

namespace debubble::exec {

std::vector<int> RunJob::layers_of_stages() const {
    std::vector<int> layers;
    for (const models::StageContent& stage : plan.stages) layers.push_back(stage.layers);
    return layers;
}

Bytes RunJob::planned_of(int rank) const {
    const std::size_t pipeline = grid.place_of(rank).pipeline;
    return planned && pipeline < planned->size() ? (*planned)[pipeline] : Bytes{};
}

double RunJob::cores_per_thread() const {
    return exec::cores_per_thread((place.size == 1 ? grid.size() : place.on_this_host) * threads);
}

std::optional<double> RunJob::step_s_at_peak() const {
    if (!peak.flops_per_s) return {};
    return scenarios::model_flops_per_step(scenario) / (*peak.flops_per_s * grid.size());
}

int RunJob::loss_rank() const {
    const Stage last{plan.program.stage_count() - 1};
    return grid.global_rank({0, 0, 0, plan.program.placement.ranks_of(last).front().index});
}

std::shared_ptr<Device> RunJob::device_of(Communicator& world) const {
    if (!cuda) return nullptr;
    const int number = place.size == 1 ? world.rank() : place.rank_on_this_host;
    const int gpu = number % cuda->gpus();
    stay_near(cuda->bus_id(gpu));
    if (place.size == 1) return cuda->device_of(world.rank(), grid.size());
    const DeviceAssignment assignment =
        gather_assignment(world, cuda->bus_id(gpu), request.patience);
    return cuda->device(gpu, assignment.on_this_gpu);
}

bool RunJob::uses_nccl(Communicator& host, std::string& note) const {
    if (!cuda || place.size == 1) return false;
    if (request.comm != "auto" && request.comm != "nccl") {
        const std::string gpu = cuda->bus_id(place.rank_on_this_host % cuda->gpus());
        note = note_of_staging(request.comm,
                               gather_assignment(host, gpu, request.patience).several_gpus);
        return false;
    }
    const auto why_not = why_no_nccl();
    std::int32_t some_have_none = why_not ? 1 : 0;
    host.all_reduce(buffer_of(std::span(&some_have_none, 1)), Reduction::Max, "NCCL")
        ->wait(within(request.patience));
    if (some_have_none == 0) return true;
    const std::string why = why_not.value_or("another process has no NCCL");
    if (request.comm == "nccl") throw WorldError("--comm nccl: " + why);
    if (!why_not) note = why + "; tensors of GPUs go through the hosts' memory";
    return false;
}

std::unique_ptr<Communicator> RunJob::connect_devices(Communicator& host,
                                                      DeviceLanes& lanes) const {
    const std::vector<int> pipeline = grid.pipeline_group(grid.place_of(host.rank()));
    const nccl::GroupPlan use = [pipeline, edges = nccl::edges_of(plan.program),
                                 grid = grid](std::span<const int> ranks) -> nccl::GroupUse {
        if (std::ranges::equal(ranks, pipeline)) return {edges, false};
        return {{}, true, nccl::stands_still(grid, ranks)};
    };
    const DeviceAssignment assignment =
        gather_assignment(host, cuda->bus_id(lanes.memory()), request.patience);
    return connect_nccl(
        {host, lanes, nullptr, use, request.patience, assignment.some_share, assignment.one_host});
}

}  // namespace debubble::exec
