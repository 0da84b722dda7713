#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/execution/execution.h"
#include "scenarios/check/parts.h"
#include "scenarios/plan/packing.h"

/// Documents that every step repacks, over context-parallel groups of one size or of several.
namespace debubble::scenarios {
namespace {

constexpr std::string_view kDynamic = "dynamic_context_parallel";
constexpr std::string_view kCapacity = "max_seqlen_per_dp_cp_rank";
constexpr int kMostPackedRanks = 4096;
constexpr double kMostPackedDocuments = 2e5;  ///< of a step, in the mean

/// The key that asks for it, where it is given.
void complain_of_packing(Draft& draft, const std::string& sentence) {
    if (draft.scenario.parallel.dynamic_context_parallel)
        draft.parallel.complain(kDynamic, sentence);
    else
        draft.top.complain("imbalance", sentence);
}

void check_packed_schedule(Draft& draft) {
    const Scenario& s = draft.scenario;
    if (s.schedule.csv || (s.schedule.name != "1f1b" && s.schedule.name != "interleaved-1f1b"))
        complain_of_packing(
            draft, fmt::format("steps with a drawn number of microbatches need the schedule 1f1b "
                               "or interleaved-1f1b, not {}",
                               s.schedule.csv ? "one of a file" : s.schedule.name));
    if (s.training.micro_batch != 1)
        complain_of_packing(
            draft,
            fmt::format(
                "a packed microbatch is one sequence: training.micro_batch must be 1, not {}",
                s.training.micro_batch));
    if (s.imbalance.draws_routers())
        complain_of_packing(draft,
                            "drawn expert loads cannot be combined with documents that every step "
                            "repacks: omit 'imbalance.router'");
    double documents = s.training.global_batch;
    if (!s.imbalance.documents->global_batch_packing)
        documents *= static_cast<double>(s.training.seq_length) / s.imbalance.documents->mean;
    if (documents > kMostPackedDocuments)
        complain_of_packing(
            draft, fmt::format("a step would pack {:.3g} documents, more than the limit of {:g}",
                               documents, kMostPackedDocuments));
}

/// Megatron-Core refuses these (validate_args of megatron/training/arguments.py).
void check_what_megatron_refuses(Draft& draft) {
    const Scenario& s = draft.scenario;
    if (s.parallel.zero_stage >= 2)
        draft.parallel.complain(
            kDynamic,
            fmt::format(
                "Megatron-Core refuses dynamic context parallelism with FSDP, but zero_stage is {}",
                s.parallel.zero_stage));
    if (s.framework.cuda_graphs != CudaGraphs{})
        draft.parallel.complain(
            kDynamic,
            "Megatron-Core refuses dynamic context parallelism with CUDA graphs, which record "
            "their groups: framework.cuda_graphs is given");
    const std::vector<int> sizes = context_group_sizes(s.parallel.replicas());
    const int least = s.parallel.min_dynamic_context_parallel_size;
    if (std::ranges::find(sizes, least) == sizes.end())
        draft.parallel.complain(
            "min_dynamic_context_parallel_size",
            fmt::format("data {} x context {} ranks form groups of {}, not of {}", s.parallel.data,
                        s.parallel.context, fmt::join(sizes, ", "), least));
}

/// The largest group is all ranks of data x context.
void check_largest_group(Draft& draft) {
    Scenario& s = draft.scenario;
    if (s.framework.kernels.context_communication == models::ContextCommunication::TwoLevel) {
        draft.parallel.complain(kDynamic,
                                "groups of several sizes do not support two levels: "
                                "framework.context_communication is a2a+p2p");
        return;
    }
    const int context = std::exchange(s.parallel.context, s.parallel.replicas());
    check_exchange(draft);
    check_recurrence(draft);
    s.parallel.context = context;
}

void check_capacity(Draft& draft) {
    const Scenario& s = draft.scenario;
    const std::int64_t capacity = rank_capacity(s);
    const int largest = context_group_sizes(s).back();
    const std::int64_t longest = longest_document(s);
    if (longest > capacity * largest)
        draft.parallel.complain(
            kCapacity, fmt::format("a document of {} tokens does not fit in {} {} of {} tokens",
                                   longest, largest, largest == 1 ? "rank" : "ranks", capacity));
    const std::int64_t multiple = document_alignment(s) / largest;
    if (capacity % multiple != 0)
        draft.parallel.complain(kCapacity,
                                fmt::format("{} tokens of a rank are not a multiple of {}, into "
                                            "which its part of a sequence is split",
                                            capacity, multiple));
    if (s.training.seq_length % document_alignment(s) != 0)
        draft.training.complain(
            "seq_length", fmt::format("documents are padded to multiples of {} tokens, which data "
                                      "{} x context {} ranks can split, but {} is not one",
                                      document_alignment(s), s.parallel.data, s.parallel.context,
                                      s.training.seq_length));
}

/// The sizes of a step whose ranks are all full.
void check_full_ranks(Draft& draft) {
    const int largest = context_group_sizes(draft.scenario).back();
    const Scenario given = draft.scenario;
    draft.scenario = filled_groups(given, largest);
    check_extent(draft);
    draft.scenario = given;
}

}  // namespace

void check_packing(Draft& draft) {
    const Scenario& s = draft.scenario;
    const Parallel& parallel = s.parallel;
    if (!packs_in_step(s)) {
        for (const std::string_view key : {kCapacity, std::string_view("min_dynamic_context_"
                                                                       "parallel_size")})
            if (draft.parallel.value(key))
                draft.parallel.complain(
                    key, fmt::format("{} needs dynamic context parallelism: set '{}: true'", key,
                                     kDynamic));
        return;
    }
    if (!s.imbalance.documents) {
        draft.parallel.complain(kDynamic,
                                "group sizes follow from document lengths, which are not given: "
                                "set mean and spread in imbalance.sequence");
        return;
    }
    if (parallel.dynamic_context_parallel && parallel.replicas() == 1) {
        draft.parallel.complain(kDynamic, "data x context is 1, so there are no groups");
        return;
    }
    if (parallel.replicas() > kMostPackedRanks) {
        complain_of_packing(draft,
                            fmt::format("groups can have up to {} ranks of data x context, not {}",
                                        kMostPackedRanks, parallel.replicas()));
        return;
    }
    check_packed_schedule(draft);
    if (parallel.dynamic_context_parallel) {
        check_what_megatron_refuses(draft);
        check_largest_group(draft);
    }
    if (draft.mistakes().empty()) check_capacity(draft);
    if (draft.mistakes().empty()) check_full_ranks(draft);
}

}  // namespace debubble::scenarios
