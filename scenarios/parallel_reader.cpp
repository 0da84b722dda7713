#include "scenarios/draft.h"

namespace debubble::scenarios {
namespace {

using models::DataType;
using text::MappingReader;
using text::Node;
using text::NodePtr;

constexpr std::pair<std::string_view, Wrap> kWraps[] = {{"layer", Wrap::Layer},
                                                        {"stage", Wrap::Stage}};
constexpr std::pair<std::string_view, DataType> kCommunicationTypes[] = {
    {"fp32", DataType::Fp32}, {"fp16", DataType::Fp16}, {"bf16", DataType::Bf16}};
constexpr std::pair<std::string_view, Partition> kPartitions[] = {
    {"uniform", Partition::Uniform}, {"balanced", Partition::Balanced}};

/// Reads a number, or `auto`, which leaves it unset.
void read_data(Draft& draft) {
    MappingReader& in = draft.parallel;
    const NodePtr value = in.value("data");
    if (!value || (value->is(Node::Kind::Scalar) && value->scalar == "auto")) return;
    int data = 1;
    if (in.whole("data", data, 1, kMostGpus)) draft.data = data;
}

void read_partition(MappingReader& in, Parallel& parallel) {
    const NodePtr value = in.value("partition");
    if (value && value->is(Node::Kind::List)) {
        if (in.wholes("partition", parallel.layers_per_stage, 0, 10'000))
            parallel.partition = Partition::Explicit;
    } else {
        in.word("partition", parallel.partition, kPartitions);
    }
}

/// Reads the options of Colossal-AI's HybridParallelPlugin, with their meaning there.
void read_plugin_knobs(Draft& draft) {
    MappingReader& in = draft.parallel;
    bool overlap = false;
    if (in.flag("overlap_communication", overlap)) draft.overlap_communication = overlap;
    int bucket = 0;
    for (const std::string_view key : {"ddp_bucket_cap_mb", "zero_bucket_size_in_m"}) {
        if (!in.whole(key, bucket, 1, 1'000'000)) continue;
        if (draft.bucket_mb)
            in.complain(key,
                        "'ddp_bucket_cap_mb' is for zero_stage 0 and 'zero_bucket_size_in_m' for "
                        "the others; give only one of them");
        draft.bucket_mb = bucket;
    }
    DataType type{};
    if (in.word("communication_dtype", type, kCommunicationTypes))
        draft.scenario.parallel.communication_dtype = type;
    in.flag("cpu_offload", draft.scenario.training.offload_optimizer);
}

}  // namespace

void read_parallel(Draft& draft) {
    MappingReader& in = draft.parallel;
    Parallel& parallel = draft.scenario.parallel;
    in.whole("tensor", parallel.tensor, 1, kMostRanks);
    in.whole("pipeline", parallel.pipeline, 1, kMostRanks);
    in.whole("context", parallel.context, 1, kMostRanks);
    read_data(draft);
    in.whole("expert", parallel.expert, 1, kMostRanks);
    int expert_tensor = 1;
    if (in.whole("expert_tensor", expert_tensor, 1, kMostRanks))
        draft.expert_tensor = expert_tensor;
    int chunks = 1;
    if (in.whole("stages_per_rank", chunks, 1, kMostChunks)) draft.stages_per_rank = chunks;
    in.flag("sequence", parallel.sequence);
    in.whole("zero_stage", parallel.zero_stage, 0, 3);
    read_partition(in, parallel);
    parallel.wrap = parallel.pipeline > 1 ? Wrap::Stage : Wrap::Layer;
    in.word("wrap", parallel.wrap, kWraps);
    read_plugin_knobs(draft);
    in.finish();
}

}  // namespace debubble::scenarios
