#include <fmt/format.h>

#include "base/diagnostic.h"
#include "sim/uneven/document_groups.h"

namespace debubble::sim {
namespace {

using Bins = std::vector<std::vector<Document>>;

Bins fill_in_order(std::span<const Document> documents, std::int64_t room) {
    Bins bins;
    std::int64_t tokens = 0;
    for (const Document& document : documents) {
        if (bins.empty() || tokens + document.length > room) {
            bins.emplace_back();
            tokens = 0;
        }
        bins.back().push_back(document);
        tokens += document.length;
    }
    return bins;
}

/// Moves last documents of the last full bins into bins of their own, until the number of bins is a
/// multiple.
void move_last(Bins& bins, std::size_t multiple) {
    std::size_t from = bins.size();
    while (bins.size() % multiple != 0) {
        while (from > 0 && bins[from - 1].size() < 2) --from;
        if (from == 0)
            throw InputError(fmt::format(
                "the documents of a step are too few: Megatron-Core's scheduler dp_balanced deals "
                "them to a multiple of {} microbatches, and there are {}",
                multiple, bins.size()));
        const Document moved = bins[from - 1].back();
        bins[from - 1].pop_back();
        bins.push_back({moved});
    }
}

}  // namespace

std::vector<PackedMicroBatch> schedule_equal_groups(std::span<const Document> documents,
                                                    std::int64_t capacity, int context,
                                                    int replicas, int multiple) {
    Bins bins = fill_in_order(documents, capacity * context);
    move_last(bins, replicas * multiple);
    std::vector<PackedMicroBatch> micro_batches;
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        const int replica = static_cast<int>(bin) % replicas;
        if (replica == 0) micro_batches.emplace_back();
        micro_batches.back().push_back({replica * context, context, std::move(bins[bin])});
    }
    return micro_batches;
}

}  // namespace debubble::sim
