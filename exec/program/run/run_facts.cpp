#include "exec/program/run/prepare_run.h"

#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/sha256.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/vectorise.h"
#include "exec/io/checkpoint/piece_source.h"
#include "scenarios/cluster/measured.h"

namespace debubble::exec {

namespace {

constexpr std::size_t kShown = 24;  ///< digits of a hash, whose first sixteen leave no doubt

std::string shown(const std::string& hash) {
    return hash.substr(0, kShown);
}

/// The layers of each stage, such as "0-3, 4-7".
std::string partition_of(const scenarios::Plan& plan) {
    std::vector<std::string> stages;
    for (const models::StageContent& stage : plan.stages)
        stages.push_back(fmt::format("{}{} layers from {}{}", stage.embedding ? "embedding + " : "",
                                     stage.layers, stage.first_layer, stage.head ? " + head" : ""));
    return fmt::format("{}", fmt::join(stages, ", "));
}

/// The start of the run in words. Checkpoints with equal manifests are equal, since a manifest has
/// the checksums of all files.
std::string beginning_of(const Start& start) {
    if (start.resume)
        return fmt::format("step {} of the checkpoint {}", start.first_step(),
                           shown(sha256(manifest_json(start.resume->manifest))));
    if (start.pieces) return "the weights " + shown(fingerprint(start.pieces->source()));
    return "random weights";
}

std::string kernels_of(const std::string& asked) {
    const CpuBackEnd back_end = cpu_back_end(asked);
    const std::string name(name_of(back_end));
    return back_end == CpuBackEnd::OneDnn ? name + " " + onednn_version() : name;
}

const char* word(VectorUnit unit) {
    switch (unit) {
        case VectorUnit::Baseline: return "baseline";
        case VectorUnit::Avx2: return "avx2";
        case VectorUnit::Avx512: return "avx512";
    }
    return "";
}

/// Whether a parameter has copies that each rank updates by itself with the same gradient: they
/// stay equal only if updates are rounded in the same way.
bool copies_step_by_themselves(const RunJob& job) {
    const scenarios::Parallel& parallel = job.scenario.parallel;
    const bool replicas = parallel.data * parallel.context > 1 && parallel.zero_stage == 0;
    const bool tied = job.scenario.model.tied_embedding && parallel.pipeline > 1;
    return parallel.tensor > 1 || replicas || tied ||
           PlacementIndex(job.plan.program.placement).has_several_holders();
}

/// Whether the ranks of a tensor group compute the gradients of uncut parameters (norms, biases)
/// each by itself, without summing them: they stay equal only if every GEMM is rounded in the same
/// way.
bool gradients_are_made_twice(const RunJob& job) {
    return job.scenario.parallel.tensor > 1;
}

void add_rounding(RunFacts& facts, const RunJob& job) {
    if (copies_step_by_themselves(job))
        facts.push_back({"the widest vector unit (DEBUBBLE_VECTOR_UNIT)", word(vector_unit()),
                         "set DEBUBBLE_VECTOR_UNIT to the narrowest of them on all ranks"});
    if (!gradients_are_made_twice(job) || cpu_back_end(job.request.kernels) != CpuBackEnd::OneDnn)
        return;
    facts.push_back({"oneDNN's instruction set", onednn_instructions(),
                     "set DEBUBBLE_VECTOR_UNIT, or ONEDNN_MAX_CPU_ISA, to what all processors have "
                     "on all ranks"});
    facts.push_back({"the number of threads (--threads)", std::to_string(job.threads),
                     "tensor-parallel ranks need the same for oneDNN: give --threads to all"});
}

/// The choices that a calibration has kept. Ranks with different choices would round copies of a
/// parameter differently.
std::string products_of(const scenarios::Cluster& cluster) {
    if (!cluster.measured || cluster.measured->products.empty()) return "the library's";
    std::string all;
    for (const auto& [product, algorithm] : cluster.measured->products)
        all += fmt::format("{} = {}\n", product, algorithm);
    return shown(sha256(all));
}

void add_device(RunFacts& facts, const RunJob& job) {
    const RunRequest& request = job.request;
    facts.push_back({"the device (--device)", request.device});
    if (request.device == "cuda") {
        const bool nccl = request.comm == "auto" || request.comm == "nccl";
        facts.push_back({"the use of NCCL (--comm)", nccl ? request.comm : "none"});
        const char* attention = std::getenv("DEBUBBLE_ATTENTION");
        facts.push_back({"attention (DEBUBBLE_ATTENTION)", attention ? attention : "own"});
        facts.push_back({"the algorithms of GEMMs (the cluster's measured.products)",
                         products_of(job.scenario.cluster)});
        return;
    }
    facts.push_back({"the kernels (--kernels)", kernels_of(request.kernels)});
    add_rounding(facts, job);
}

}  // namespace

RunFacts facts_of(const RunJob& job) {
    RunFacts facts = scenario_facts(job.scenario, job.options);
    facts.push_back({"the content of the stages", partition_of(job.plan)});
    facts.push_back({"the program", shown(job.program_hash)});
    facts.push_back({"the training data", job.train_data.value_or("")});
    facts.push_back(
        {"the evaluation data", job.data.eval ? data_in_words(*job.data.eval) : "none"});
    facts.push_back({"training.data.ignore_index", std::to_string(job.data.ignore_index)});
    facts.push_back({"the beginning", beginning_of(job.start)});
    facts.push_back({"the last step", std::to_string(job.last_step)});
    add_device(facts, job);
    return facts;
}

}  // namespace debubble::exec
