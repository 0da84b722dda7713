#include <utility>

#include <fmt/format.h>

#include "schedule/generators/alternation.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// Interleaved 1F1B (Narayanan et al., 2021, arXiv:2104.04473, section 2.2):
/// every rank holds v chunks of the model, and microbatches go round the ranks
/// v times in groups of p. Bubble (p-1)(F+B)/v; rank 0 holds p + (p-1)/v
/// microbatches of its layers; a link delay C costs (2vp-2)C.
///
///   rank 0  0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3
///   rank 1  1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3
///
/// The groups of a number of microbatches that p does not divide:
///   rounds=megatron  groups of p and a shorter last one, Megatron-Core's schedule
///                    table (Megatron itself refuses to run it, but in groups above p)
///   rounds=pytorch   equal groups of m / (m / p), PyTorch's ScheduleInterleaved1F1B
///   rounds=padded    groups of p, the turns of the missing microbatches left out
/// Equals Megatron-Core 0.12's get_schedule_table and get_pp_rank_microbatches (2 <= p <= 8) and
/// PyTorch 2.6's pipeline_order (p <= 8), both run for v <= 4, m <= 64.
namespace debubble {
namespace {

constexpr GeneratorOption kRounds[] = {
    {"rounds", "megatron, pytorch or padded: how microbatches that p does not divide are grouped"}};

std::string rounds_of(const GeneratorOptions& options) {
    const auto found = options.values.find("rounds");
    return found == options.values.end() ? "megatron" : found->second;
}

Reason why_not_interleaved_1f1b(const PipelineShape& shape, const GeneratorOptions& options) {
    if (const Reason reason = shape_reason(shape, {})) return reason;
    const std::string rounds = rounds_of(options);
    if (rounds == "padded") return shape_reason(padded_to_groups(shape, shape.ranks), {});
    if (rounds == "pytorch") return pytorch_group_reason(shape);
    if (rounds != "megatron")
        return fmt::format("rounds must be megatron, pytorch or padded, not '{}'", rounds);

    // With a last group of 1 to p-3, rank 0 lists that group's next chunk before the backward
    // that the last rank waits for before it computes what the chunk needs. Two chunks of a
    // single microbatch just escape. (Compared with the replay for p <= 12, v <= 6, m < 4p.)
    const int last = shape.micro_batches % shape.ranks;
    const bool waits = shape.micro_batches > shape.ranks && last > 0 && last <= shape.ranks - 3 &&
                       shape.stages_per_rank > 1 && !(shape.stages_per_rank == 2 && last == 1);
    if (!waits) return std::nullopt;
    return fmt::format(
        "{} microbatches leave a last group of {} for {} ranks, and in Megatron's order so short a "
        "group deadlocks; take a multiple of {}, or the option rounds=padded",
        shape.micro_batches, last, shape.ranks, shape.ranks);
}

Schedule interleaved_one_f_one_b(const PipelineShape& shape, const GeneratorOptions& options) {
    const std::string rounds = rounds_of(options);
    const int group = rounds == "pytorch" ? pytorch_group(shape) : shape.ranks;
    const PipelineShape whole = rounds == "padded" ? padded_to_groups(shape, group) : shape;

    Schedule schedule = empty_schedule("interleaved-1f1b", whole);
    for (int rank = 0; rank < shape.ranks; ++rank)
        write({.forwards = looped_forwards(whole, rank, group),
               .backwards = looped_backwards(whole, rank, group),
               .warm_up = (shape.stages_per_rank - 1) * group + 2 * (shape.ranks - 1 - rank)},
              schedule.ranks[rank]);
    return without_missing(std::move(schedule), shape.micro_batches);
}

}  // namespace

Generator interleaved_1f1b_row() {
    return {.name = "interleaved-1f1b",
            .summary = "1F1B over several chunks per rank, depth first (Megatron-LM)",
            .source = "arXiv:2104.04473",
            .make = interleaved_one_f_one_b,
            .why_not = why_not_interleaved_1f1b,
            .options = kRounds};
}

}  // namespace debubble
