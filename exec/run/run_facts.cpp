#include "exec/run/run_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/sha256.h"
#include "exec/checkpoint/fingerprint.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/reference/vectorise.h"
#include "exec/data/fingerprint.h"

namespace debubble::exec {

namespace {

constexpr std::size_t kShown = 24;  ///< digits of a hash, whose first sixteen leave no doubt

std::string shown(const std::string& hash) {
    return hash.substr(0, kShown);
}

/// What each stage holds: "0-3, 4-7" are layers.
std::string partition_of(const scenarios::Plan& plan) {
    std::vector<std::string> stages;
    for (const models::StageContent& stage : plan.stages)
        stages.push_back(fmt::format("{}{} layers from {}{}", stage.embedding ? "embedding + " : "",
                                     stage.layers, stage.first_layer, stage.head ? " + head" : ""));
    return fmt::format("{}", fmt::join(stages, ", "));
}

std::string data_of(const Batches& batches) {
    return fmt::format("{} samples with the fingerprint {}", batches.data().samples(),
                       shown(fingerprint(batches.data())));
}

/// Checkpoints of equal manifests are equal: it has the checksums of all files.
std::string beginning_of(const Start& start) {
    if (start.resume)
        return fmt::format("step {} of the checkpoint {}", start.first_step(),
                           shown(sha256(manifest_json(start.resume->manifest))));
    if (start.pieces) return "the weights " + shown(fingerprint(start.pieces->source()));
    return "random weights";
}

std::string kernels_of(const std::string& asked) {
    if (asked == "reference" || !has_onednn()) return "reference";
    return "onednn " + onednn_version();
}

const char* word(reference::VectorUnit unit) {
    switch (unit) {
        case reference::VectorUnit::Baseline: return "baseline";
        case reference::VectorUnit::Avx2: return "avx2";
        case reference::VectorUnit::Avx512: return "avx512";
    }
    return "";
}

void add_device(RunFacts& facts, const RunRequest& request) {
    facts.push_back({"the device (--device)", request.device});
    if (request.device == "cuda") {
        const bool nccl = request.comm == "auto" || request.comm == "nccl";
        facts.push_back({"the use of NCCL (--comm)", nccl ? request.comm : "none"});
        return;
    }
    facts.push_back({"the kernels (--kernels)", kernels_of(request.kernels)});
    facts.push_back(
        {"the widest vector unit (DEBUBBLE_VECTOR_UNIT)", word(reference::vector_unit())});
}

}  // namespace

RunFacts facts_of(const RunJob& job) {
    RunFacts facts = scenario_facts(job.scenario, job.options);
    facts.push_back({"the content of the stages", partition_of(job.plan)});
    facts.push_back({"the program", shown(job.program_hash)});
    facts.push_back({"the training data", data_of(job.data.train)});
    facts.push_back({"the evaluation data", job.data.eval ? data_of(*job.data.eval) : "none"});
    facts.push_back({"training.data.ignore_index", std::to_string(job.data.ignore_index)});
    facts.push_back({"the beginning", beginning_of(job.start)});
    facts.push_back({"the last step", std::to_string(job.last_step)});
    add_device(facts, job.request);
    return facts;
}

}  // namespace debubble::exec
