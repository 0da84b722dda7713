#include "sim/uneven/pack_documents.h"

#include <algorithm>

#include "scenarios/packing.h"
#include "sim/uneven/draw.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

/// Of every replica one sequence to a microbatch, with its documents.
std::vector<PackedMicroBatch> packed_sequences(const Scenario& scenario, int number) {
    const Draw draw(scenario, number);
    const std::int64_t multiple = scenarios::document_alignment(scenario);
    const int context = scenario.parallel.context;
    std::vector<PackedMicroBatch> sequences(
        static_cast<std::size_t>(scenario.training.micro_batches));
    int id = 0;
    for (int replica = 0; replica < scenario.parallel.data; ++replica)
        for (int mb = 0; mb < scenario.training.micro_batches; ++mb) {
            DocumentGroup& sequence = sequences[static_cast<std::size_t>(mb)].emplace_back();
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
    const Draw draw(scenario, number);
    const std::int64_t multiple = scenarios::document_alignment(scenario);
    std::vector<Document> documents;
    for (int id = 0; id < scenario.training.global_batch; ++id)
        documents.push_back({id, draw.document(id, multiple)});
    return documents;
}

}  // namespace

std::vector<PackedMicroBatch> pack_documents(const Scenario& scenario, int draw, Groups groups) {
    const std::int64_t capacity = scenarios::rank_capacity(scenario);
    const GroupRules rules{capacity, scenarios::context_group_sizes(scenario)};
    if (scenario.imbalance.documents->global_batch_packing) {
        const std::vector<Document> documents = sample_documents(scenario, draw);
        if (groups == Groups::Dynamic) return schedule_dynamic_groups(documents, rules);
        return schedule_equal_groups(documents, capacity, scenario.parallel.context,
                                     scenario.parallel.data);
    }
    std::vector<PackedMicroBatch> sequences = packed_sequences(scenario, draw);
    if (groups == Groups::Equal) return sequences;
    return schedule_dynamic_groups(documents_in(sequences), rules);
}

}  // namespace debubble::sim
