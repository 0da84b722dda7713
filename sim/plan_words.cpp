#include "sim/plan_words.h"

#include <fmt/format.h>

namespace debubble::sim {

std::string plan_of(const scenarios::Scenario& s) {
    const scenarios::Parallel& parallel = s.parallel;
    std::string words = fmt::format("tensor {}, pipeline {}, data {}", parallel.tensor,
                                    parallel.pipeline, parallel.data);
    if (parallel.context > 1) words += fmt::format(", context {}", parallel.context);
    if (parallel.expert > 1) words += fmt::format(", expert {}", parallel.expert);
    if (s.model.has_experts() && parallel.expert_tensor != parallel.tensor)
        words += fmt::format(", expert_tensor {}", parallel.expert_tensor);
    if (s.training.expert_load > 1)
        words += fmt::format(", expert_load {}", s.training.expert_load);
    if (parallel.sequence) words += ", sequence";
    if (parallel.zero_stage > 0) words += fmt::format(", ZeRO-{}", parallel.zero_stage);
    words += fmt::format("; {}", s.schedule.csv.empty() ? s.schedule.name : s.schedule.csv);
    if (parallel.stages_per_rank > 1)
        words += fmt::format(" of {} stages per rank", parallel.stages_per_rank);
    if (s.schedule.slices > 1) words += fmt::format(", {} slices", s.schedule.slices);
    words += fmt::format("; {} microbatch{} of {} x {} tokens", s.training.micro_batches,
                         s.training.micro_batches == 1 ? "" : "es", s.training.micro_batch,
                         s.training.seq_length);
    if (s.training.recompute != models::Recompute::None)
        words += s.training.recompute == models::Recompute::Full ? "; full recompute"
                                                                 : "; selective recompute";
    return words;
}

std::string whole_plan_of(const scenarios::Scenario& s) {
    return fmt::format("{} on {} GPUs of {}; {}; global batch {}; {}", s.model.name, s.gpus,
                       s.cluster.name, plan_of(s), s.training.global_batch, s.framework.name);
}

}  // namespace debubble::sim
