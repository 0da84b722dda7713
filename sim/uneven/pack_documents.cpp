#include "sim/uneven/document_groups.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/plan/packing.h"
#include "sim/uneven/draw.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

/// One sequence of every replica in each microbatch, with its documents.
std::vector<PackedMicroBatch> packed_sequences(const Scenario& scenario, int number) {
    const Draw draw(scenario, {number});
    const std::int64_t multiple = scenarios::document_alignment(scenario);
    const int context = scenario.parallel.context;
    std::vector<PackedMicroBatch> sequences(scenario.training.micro_batches);
    int id = 0;
    for (int replica = 0; replica < scenario.parallel.data; ++replica)
        for (int mb = 0; mb < scenario.training.micro_batches; ++mb) {
            DocumentGroup& sequence = sequences[mb].emplace_back();
            sequence.first_rank = replica * context;
            sequence.ranks = context;
            for (const std::int64_t length : draw.documents(mb, replica, multiple))
                sequence.documents.push_back({id++, length});
        }
    return sequences;
}

std::vector<Document> documents_in(const std::vector<PackedMicroBatch>& micro_batches) {
    std::vector<Document> documents;
    for (const PackedMicroBatch& micro_batch : micro_batches)
        for (const DocumentGroup& group : micro_batch)
            documents.insert(documents.end(), group.documents.begin(), group.documents.end());
    std::ranges::sort(documents, {}, &Document::id);
    return documents;
}

std::vector<Document> sample_documents(const Scenario& scenario, int number) {
    const Draw draw(scenario, {number});
    const std::int64_t multiple = scenarios::document_alignment(scenario);
    std::vector<Document> documents;
    for (int id = 0; id < scenario.training.global_batch; ++id)
        documents.push_back({id, draw.document(id, multiple)});
    return documents;
}

/// The divisor of the number of microbatches: Megatron-Core's microbatch_group_size_per_vp_stage.
int multiple_of(const Scenario& scenario) {
    return scenario.parallel.stages_per_rank > 1 ? scenario.parallel.pipeline : 1;
}

std::vector<PackedMicroBatch> dynamic_groups(const Scenario& scenario, int draw,
                                             const std::vector<Document>& documents) {
    const GroupRules rules = scenarios::group_rules(scenario);
    std::vector<PackedMicroBatch> packed = schedule_dynamic_groups(documents, rules);
    if (!align_micro_batches(packed, multiple_of(scenario), rules))
        throw InputError(fmt::format(
            "the scheduler default_dynamic_cp makes {} microbatches of drawn step {}, not a "
            "multiple of {} pipeline ranks as interleaved stages need, and each is one group of "
            "all "
            "ranks, which Megatron-Core does not split: with a larger training.global_batch some "
            "have several groups",
            packed.size(), draw, scenario.parallel.pipeline));
    return packed;
}

}  // namespace

std::vector<PackedMicroBatch> pack_documents(const Scenario& scenario, int draw, Groups groups) {
    const std::int64_t capacity = scenarios::rank_capacity(scenario);
    if (scenario.imbalance.documents->global_batch_packing) {
        const std::vector<Document> documents = sample_documents(scenario, draw);
        if (groups == Groups::Dynamic) return dynamic_groups(scenario, draw, documents);
        return schedule_equal_groups(documents, capacity, scenario.parallel.context,
                                     scenario.parallel.data, multiple_of(scenario));
    }
    std::vector<PackedMicroBatch> sequences = packed_sequences(scenario, draw);
    if (groups == Groups::Equal) return sequences;
    return dynamic_groups(scenario, draw, documents_in(sequences));
}

}  // namespace debubble::sim
