#include <fmt/format.h>

#include "scenarios/read/draft.h"

namespace debubble::scenarios {
namespace {

using models::DataType;
using text::custom;
using text::described;
using text::Fields;
using text::flag;
using text::Form;
using text::MappingReader;
using text::names_of;
using text::Node;
using text::NodePtr;
using text::read_fields;
using text::whole;
using text::word;

constexpr std::pair<std::string_view, Wrap> kWraps[] = {{"layer", Wrap::Layer},
                                                        {"stage", Wrap::Stage}};
constexpr std::pair<std::string_view, DataType> kCommunicationTypes[] = {
    {"fp32", DataType::Fp32}, {"fp16", DataType::Fp16}, {"bf16", DataType::Bf16}};
constexpr std::pair<std::string_view, Partition> kPartitions[] = {
    {"uniform", Partition::Uniform}, {"balanced", Partition::Balanced}};
constexpr std::string_view kAutoData = "auto";
constexpr int kMostLayersOfStage = 10'000;
constexpr int kLargestBucketMb = 1'000'000;

/// The place of a member of Parallel.
auto in_parallel(auto member) {
    return [member](Draft& draft) -> decltype(auto) { return (draft.scenario.parallel.*member); };
}

/// Reads a number, or `auto`, which leaves it unset.
void read_data(MappingReader& in, std::string_view key, Draft& draft) {
    const NodePtr value = in.value(key);
    if (!value || (value->is(Node::Kind::Scalar) && value->scalar == kAutoData)) return;
    int data = 1;
    if (in.whole(key, data, 1, kMostGpus)) draft.data = data;
}

void read_partition(MappingReader& in, std::string_view key, Draft& draft) {
    Parallel& parallel = draft.scenario.parallel;
    const NodePtr value = in.value(key);
    if (value && value->is(Node::Kind::List)) {
        if (in.wholes(key, parallel.layers_per_stage, 0, kMostLayersOfStage))
            parallel.partition = Partition::Explicit;
    } else {
        in.word(key, parallel.partition, kPartitions);
    }
}

/// Precondition: `pipeline` and `partition` have been read.
void read_layout(MappingReader& in, std::string_view key, Draft& draft) {
    Parallel& parallel = draft.scenario.parallel;
    std::string layout;
    if (!in.text(key, layout)) return;
    if (!layout.empty()) parallel.layout = layout;
    if (in.value("partition")) {
        in.complain(key, "give either a 'layout' or a 'partition'");
        return;
    }
    try {
        draft.layout = models::parse_layout(layout);
        models::check_layout(draft.layout, parallel.pipeline);
    } catch (const InputError& error) {
        in.complain(key, error.diagnostics().front().message);
        return;
    }
    parallel.partition = Partition::Explicit;
    for (const models::StageUnits& stage : draft.layout)
        parallel.layers_per_stage.push_back(stage.layers);
    parallel.prediction_stage = models::prediction_stage_of(draft.layout);
}

void read_context_levels(MappingReader& in, std::string_view key, Draft& draft) {
    std::vector<int>& sizes = draft.scenario.parallel.hierarchical_context_parallel_sizes;
    if (!in.wholes(key, sizes, 1, kMostRanks) || sizes.size() == 2) return;
    in.complain(key,
                fmt::format("two levels are supported, all-to-all and ring, not {}", sizes.size()));
    sizes.clear();
}

void read_order(MappingReader& in, std::string_view key, Draft& draft) {
    std::string text;
    if (!in.text(key, text)) return;
    if (const auto order = RankOrder::parse(text))
        draft.scenario.parallel.order = *order;
    else
        in.complain(key, fmt::format("'{}' is not an order of ranks: each of tp, cp, ep, dp and pp "
                                     "once, tp first, as tp-cp-ep-dp-pp",
                                     text));
}

/// Precondition: `pipeline` has been read.
void read_wrap(MappingReader& in, std::string_view key, Draft& draft) {
    Parallel& parallel = draft.scenario.parallel;
    parallel.wrap = parallel.pipeline > 1 ? Wrap::Stage : Wrap::Layer;
    in.word(key, parallel.wrap, kWraps);
}

void read_bucket(MappingReader& in, std::string_view key, Draft& draft) {
    int bucket = 0;
    if (!in.whole(key, bucket, 1, kLargestBucketMb)) return;
    if (draft.bucket_mb)
        in.complain(key,
                    "'ddp_bucket_cap_mb' applies to zero_stage 0 and 'zero_bucket_size_in_m' to "
                    "the others; give only one");
    draft.bucket_mb = bucket;
}

const Fields<Draft>& parallel_fields() {
    static const Form bucket{text::WholeForm{1, kLargestBucketMb, "MiB"}};
    static const Fields<Draft> kFields{
        {"tensor", whole(in_parallel(&Parallel::tensor), 1, kMostRanks, "ranks"),
         "Tensor parallelism: the number of ranks that share every layer's matrices.", "8"},
        {"pipeline", whole(in_parallel(&Parallel::pipeline), 1, kMostRanks, "ranks"),
         "Pipeline parallelism: the number of ranks with successive stages of the model.", "8"},
        {"context", whole(in_parallel(&Parallel::context), 1, kMostRanks, "ranks"),
         "Context parallelism: the number of ranks that share every sequence.", "2"},
        {"hierarchical_context_parallel_sizes",
         custom(read_context_levels,
                {Form{text::ListForm{{Form{text::WholeForm{1, kMostRanks, "ranks"}}}, {}}}}),
         "The two levels of framework.context_communication a2a+p2p: neighbours that use "
         "all-to-all, and the ring of these groups that passes keys and values (Megatron's "
         "--hierarchical-context-parallel-sizes).",
         "[8, 2]", "the ranks of a node, and the rest of context"},
        {"dynamic_context_parallel", flag(in_parallel(&Parallel::dynamic_context_parallel)),
         "Dynamic context parallelism: each packed microbatch runs on as many ranks of data x "
         "context as its longest document of imbalance.sequence needs instead of on `context` "
         "(Megatron's --dynamic-context-parallel, formerly --hybrid-context-parallel).",
         "true"},
        {"min_dynamic_context_parallel_size",
         whole(in_parallel(&Parallel::min_dynamic_context_parallel_size), 1, kMostRanks, "ranks"),
         "The smallest group of dynamic context parallelism.", "2"},
        {"max_seqlen_per_dp_cp_rank",
         whole(in_parallel(&Parallel::max_seqlen_per_dp_cp_rank), 1, kLongestSequence, "tokens"),
         "The maximum number of tokens per rank and microbatch where every step packs its "
         "documents: longer documents get more ranks.",
         "4096", "training.seq_length / context"},
        {"data",
         custom(read_data, {Form{text::WordForm{{std::string(kAutoData)}}},
                            Form{text::WholeForm{1, kMostGpus, "replicas"}}}),
         "Data parallelism: the number of replicas that share a global batch.", "4",
         "auto: the GPUs divided by tensor x pipeline x context"},
        {"expert", whole(in_parallel(&Parallel::expert), 1, kMostRanks, "ranks"),
         "Expert parallelism: the number of ranks that share the experts of a layer, taken from "
         "tensor x context x data.",
         "8"},
        {"expert_tensor", whole(&Draft::expert_tensor, 1, kMostRanks, "ranks"),
         "Expert tensor parallelism: the number of ranks that share each expert.", "1",
         "the value of tensor, if the model has experts"},
        {"stages_per_rank", whole(&Draft::stages_per_rank, 1, kMostChunks, "stages"),
         "The number of stages (model chunks, virtual stages) per pipeline rank.", "2",
         "that of the layout or of the partition's list, or the number that the schedule needs, "
         "else 1"},
        {"sequence", flag(in_parallel(&Parallel::sequence)),
         "Sequence parallelism: the tensor-parallel ranks split the sequence where they do not "
         "split matrices.",
         "true"},
        {"zero_stage", whole(in_parallel(&Parallel::zero_stage), 0, 3),
         "The ZeRO stage: replicas shard the optimizer state (1), gradients too (2), parameters "
         "too (3; FSDP).",
         "1"},
        {"order", custom(read_order, {Form{text::TextForm{}}}),
         "The order in which global ranks count the dimensions, neighbours first: with pp last the "
         "replicas of a stage are close to each other and the stages far apart; tp-cp-ep-pp-dp "
         "(Megatron's --use-tp-pp-dp-mapping, Colossal-AI's dp_outside) has it the other way.",
         "tp-cp-ep-pp-dp", "tp-cp-ep-dp-pp"},
        {"partition",
         custom(
             read_partition,
             {Form{text::WordForm{names_of(kPartitions)}},
              Form{text::ListForm{{Form{text::WholeForm{0, kMostLayersOfStage, "layers"}}}, {}}}}),
         "The partition into stages: the same number of layers each (uniform); that or the "
         "partition whose busiest rank has the least predicted work, whichever makes the shorter "
         "step that fits (balanced; with even loads); or the number of layers of every stage.",
         "[7, 8, 8, 7]", "uniform"},
        {"layout", custom(read_layout, {Form{text::TextForm{}}}),
         "The pipeline layout in Megatron-Core's notation, instead of partition: E is the "
         "embedding, t a layer, m a layer of multi-token prediction, L the loss, and | ends a "
         "stage.",
         "Et*4|(t*4|)*14tmL", "none: given by partition"},
        {"wrap", custom(read_wrap, {Form{text::WordForm{names_of(kWraps)}}}),
         "The unit in which ZeRO-3 gathers parameters.", "layer",
         "stage if pipeline is above 1, else layer"},
        {"shard", whole(in_parallel(&Parallel::shard), 1, kMostRanks, "replicas"),
         "ZeRO and FSDP shard over this many of data x context and replicate over the rest (HSDP; "
         "distributed optimizer instances).",
         "8", "data x context"},
        {"reshard", flag(in_parallel(&Parallel::reshard)),
         "ZeRO-3 frees gathered parameters after the forward and gathers them again for the "
         "backward (FSDP2's reshard_after_forward).",
         "false"},
        {"overlap_communication", flag(&Draft::overlap_communication),
         "Gradient reduction overlaps the last backward passes (Colossal-AI's option).", "true",
         "framework.overlap_grad_reduce"},
        {"ddp_bucket_cap_mb", custom(read_bucket, {bucket}),
         "The gradient bucket size, with zero_stage 0 (Colossal-AI's option).", "25",
         "framework.grad_bucket"},
        {"zero_bucket_size_in_m", custom(read_bucket, {bucket}),
         "The gradient bucket size, with ZeRO (Colossal-AI's option).", "12",
         "framework.grad_bucket"},
        {"communication_dtype",
         word(in_parallel(&Parallel::communication_dtype), kCommunicationTypes),
         "The communication type of gradients and sharded parameters.", "fp16",
         "their type in memory"},
        {"cpu_offload", flag([](Draft& draft) -> decltype(auto) {
             return (draft.scenario.training.offload_optimizer);
         }),
         "The optimizer state is in host memory; the same as training.offload_optimizer "
         "(Colossal-AI's knob).",
         "true"}};
    return kFields;
}

}  // namespace

std::vector<text::Key> parallel_keys(Draft& fresh) {
    return described(parallel_fields(), fresh);
}

void read_parallel(Draft& draft) {
    read_fields(draft.parallel, parallel_fields(), draft);
    draft.parallel.finish();
}

}  // namespace debubble::scenarios
