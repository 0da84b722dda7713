#include <cmath>

#include <fmt/format.h>

#include "scenarios/jobs/write/job_writer.h"
#include "scenarios/plan/packing.h"

namespace debubble::jobs {

void add_packing_fields(JobWriter& job) {
    const scenarios::Scenario& s = job.s;
    if (!scenarios::packs_in_step(s)) return;
    const scenarios::Documents& documents = *s.imbalance.documents;
    if (s.parallel.dynamic_context_parallel) {
        job.flag("dynamic_context_parallel", true);
        if (s.parallel.min_dynamic_context_parallel_size > 1)
            job.say("min_dynamic_context_parallel_size",
                    s.parallel.min_dynamic_context_parallel_size);
    }
    job.say("sequence_packing_scheduler",
            s.parallel.dynamic_context_parallel ? "default_dynamic_cp" : "dp_balanced");
    job.say("max_seqlen_per_dp_cp_rank", scenarios::rank_capacity(s));
    job.flag("calculate_per_token_loss", true);
    job.flag(documents.global_batch_packing ? "use_varlen_dataset" : "sft", true);
    job.flag("mock_data", true);
    job.say(
        documents.global_batch_packing ? "varlen_mock_dataset_config_json"
                                       : "sft_mock_dataset_config_json",
        fmt::format("{{\"mode\":\"distribution\",\"type\":\"lognormal\",\"format\":\"thd\","
                    "\"min_seq_len\":{},\"max_seq_len\":{},\"mean_seq_len\":{},"
                    "\"lognormal_sigma\":{:.6g}}}",
                    documents.shortest, documents.longest.value_or(s.training.seq_length),
                    documents.mean, std::sqrt(std::log1p(documents.spread * documents.spread))));
}

void name_documents(JobWriter& job, std::string_view tool) {
    const auto& documents = job.s.imbalance.documents;
    if (!documents) return;
    std::string lengths = fmt::format("mean {}, spread {}, shortest {}", documents->mean,
                                      documents->spread, documents->shortest);
    if (documents->longest) lengths += fmt::format(", longest {}", *documents->longest);
    job.cannot("imbalance.sequence",
               fmt::format("document lengths ({}) are determined by {}'s data", lengths, tool));
}

void name_loads(JobWriter& job) {
    const scenarios::Imbalance& imbalance = job.s.imbalance;
    if (imbalance.draws_routers())
        job.cannot("imbalance.router", "expert loads follow from the job's data");
    if (!imbalance.ranks.empty())
        job.cannot("imbalance.ranks", "slow ranks are a property of the machine, not of a job");
    if (imbalance.jitter > 0)
        job.cannot("imbalance.jitter", "varying times are a property of the machine, not of a job");
}

}  // namespace debubble::jobs
