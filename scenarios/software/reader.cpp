#include "scenarios/software/reader.h"

#include <vector>

#include "scenarios/software/fields.h"
#include "scenarios/software/words.h"
#include "schedule/generators/generators.h"
#include "text/fields.h"
#include "text/mapping_reader.h"

namespace debubble::scenarios {
namespace {

using text::bytes;
using text::custom;
using text::described;
using text::duration;
using text::Fields;
using text::flag;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::read_fields;
using text::real;
using text::whole;
using text::word;

void read_offload_buffer(MappingReader& in, std::string_view key, Framework& f) {
    if (in.bytes(key, f.offload_buffer) && f.offload_buffer.count != 0 &&
        f.offload_buffer < Bytes{16 << 10})
        in.complain(key, "'offload_buffer' must be 0 or at least 16 KiB");
}

constexpr std::string_view kEverySchedule = "all";

std::vector<std::string> supported_schedules() {
    std::vector<std::string> names;
    for (const Generator& row : generators()) names.emplace_back(row.name);
    return names;
}

/// Reads `all`, or a list of names; it replaces the list of the profile's base.
void read_schedules(MappingReader& in, std::string_view key, Framework& f) {
    const text::NodePtr value = in.value(key);
    if (!value) return;
    if (value->is(text::Node::Kind::Scalar) && value->scalar == kEverySchedule) {
        f.schedules.reset();
        return;
    }
    std::vector<std::string> known = supported_schedules();
    if (value->is(text::Node::Kind::Scalar))
        known.insert(known.begin(), std::string(kEverySchedule));
    std::vector<std::string> names;
    if (!in.texts(key, names)) return;
    if (names.empty()) in.complain(key, "'schedules' must name at least one, or be 'all'");
    for (const std::string& name : names)
        if (find_generator(name) == nullptr) in.complain_unknown(key, "schedule", name, known);
    f.schedules = std::move(names);
}

std::vector<Form> schedules_forms() {
    return {Form{text::WordForm{{std::string(kEverySchedule)}}},
            Form{text::ListForm{{Form{text::WordForm{supported_schedules()}}}, {}}}};
}

Fields<Framework> step_fields() {
    return {{"optimizer", word(&Framework::optimizer, kOptimizers),
             "The implementation of the optimizer step.", "foreach-adam"},
            {"optimizer_bytes_per_parameter",
             real(&Framework::optimizer_bytes_per_parameter, 0, 1000, "bytes"),
             "The device memory traffic of an optimizer step, per parameter.", "50",
             "28 for fused-adam, 50 for foreach-adam, 80 for per-tensor-adam"},
            {"optimizer_fixed", duration(&Framework::optimizer_fixed), "Time added to each step.",
             "3 ms"},
            {"offload_buffer", checked_bytes(read_offload_buffer, &Framework::offload_buffer),
             "The GPU buffer through which an offloaded optimizer state is streamed; 0 B: the "
             "node's CPUs step it (ZeRO-Offload).",
             "48 MiB"},
            {"post_validation", flag(&Framework::post_validation),
             "The optimizer steps before the gradient norm is known and rolls back if needed (zero "
             "bubble).",
             "true"},
            {"rollback_copies", flag(&Framework::rollback_copies),
             "Values that may have to be rolled back are copied before the step.", "true"}};
}

Fields<Framework> memory_fields() {
    return {{"recompute", word(&Framework::recompute, kDefaultRecomputes),
             "The default of training.recompute.", "selective-op", "none"},
            {"allocator", word(&Framework::allocator, kAllocators),
             "The model of the device memory allocator.", "arena"},
            {"library_workspace", bytes(&Framework::library_workspace),
             "Memory that libraries such as cuBLAS hold throughout.", "96 MiB"},
            {"headroom", bytes(&Framework::headroom),
             "GPU memory that is not available to the allocator: CUDA context, kernels, NCCL.",
             "2 GiB"},
            {"main_grad_buffer", flag(&Framework::main_grad_buffer),
             "The gradients are in one flat fp32 buffer for the whole run.", "false"},
            {"ddp_buckets", flag(&Framework::ddp_buckets),
             "PyTorch DDP's buckets hold another copy of the gradients.", "true"},
            {"bf16_optimizer", flag(&Framework::bf16_optimizer),
             "Training in bf16 uses DeepSpeed's BF16_Optimizer, with a pipeline at ZeRO-0 and with "
             "fp32 gradient accumulation at ZeRO-1: its state is sharded over the replicas at "
             "either stage, and bf16 gradients are kept in addition to the accumulated ones.",
             "true"}};
}

const Fields<Framework>& framework_fields() {
    static const Fields<Framework> kFields = [] {
        Fields<Framework> all{
            {"name", free_text(&Framework::name), "The name of the profile.", "mine", "inline"},
            {"source", free_text(&Framework::source), "The source of the figures, as a sentence.",
             "Measured on one node", "none"},
            {"release", free_text(&Framework::release),
             "The release of the software, as its source names it.", "nemo 25.04", "not stated"},
            {"schedules", custom(read_schedules, schedules_forms()),
             "The schedules supported by the software. `sweep` and `search` exclude others from "
             "their ranking, with the reason, unless --any-schedule is given.",
             "[1f1b, interleaved-1f1b]", "all"}};
        for (auto make : {kernel_fields, communication_fields, stage3_fields, host_fields,
                          step_fields, memory_fields}) {
            const Fields<Framework> more = make();
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }();
    return kFields;
}

}  // namespace

text::Reading<Framework> checked_bytes(void (*read)(MappingReader&, std::string_view, Framework&),
                                       Bytes Framework::*place) {
    return {read,
            [](Framework&) { return std::vector{Form{text::QuantityForm{text::Quantity::Bytes}}}; },
            [place](Framework& fresh) { return text::shown(fresh.*place); }};
}

std::vector<text::Key> framework_keys() {
    return described(framework_fields());
}

Framework read_framework(const text::NodePtr& value, text::ShippedFiles& shipped,
                         text::Mistakes& mistakes) {
    Framework f;
    const text::NodePtr map = shipped.resolve(value, "framework", "scenarios/frameworks", mistakes);
    if (!map) return f;
    MappingReader in(map, "framework", mistakes);
    f.name = "inline";
    read_fields(in, framework_fields(), f);
    in.finish();
    return f;
}

Framework shipped_framework(const std::string& name) {
    text::ShippedFiles shipped;
    text::Mistakes mistakes;
    Framework framework = read_framework(text::make_scalar(name, {}), shipped, mistakes);
    mistakes.throw_if_any();
    return framework;
}

}  // namespace debubble::scenarios
