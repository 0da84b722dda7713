#pragma once

#include "scenarios/jobs/read/formats.h"

namespace debubble::jobs {

/// Reads what a job of Megatron-DeepSpeed says beside Megatron-LM's flags: the JSON that
/// --deepspeed_config names, which lies beside the script or is written by it, and the bigscience
/// fork's flags. Call it before the flags are read, and finish_deepspeed() after that.
void settle_deepspeed(const JobText& text, Reading& job);
void finish_deepspeed(Reading& job);

/// `parallel.partition` of a pipeline that DeepSpeed cuts by the names of its items, those `before`
/// the layers, the layers and those `after` them: items whose name, in small letters, has a word of
/// `pattern`, words between bars, are shared evenly.
std::string partition_by_types(std::string pattern, const std::vector<std::string>& before,
                               std::string_view layer, const std::vector<std::string>& after,
                               std::int64_t layers, std::int64_t stages);

/// The first item of each part, and the end of the last, as DeepSpeed balances items of such
/// weights (runtime/utils.py, partition_balanced).
std::vector<std::size_t> balanced_parts(const std::vector<std::int64_t>& weights,
                                        std::size_t parts);

}  // namespace debubble::jobs
