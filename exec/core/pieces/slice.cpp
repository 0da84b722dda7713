#include "exec/core/pieces/pieces.h"

#include <algorithm>

#include "base/check.h"

namespace debubble::exec {
namespace {

using models::Execution;
using models::Parameter;
using models::Sharding;

/// A rank's share of one part, in the rank's tensor and in the global one.
struct Share {
    Box local;
    Box global;
};

std::vector<Share> shares_of(const Parameter& parameter, const Execution& execution,
                             int cutting_rank) {
    const Dimensions local = local_shape(parameter, execution);
    if (parameter.sharding == Sharding::Replicated) return {{whole(local), whole(local)}};
    const int cut = parameter.cut_dimension;
    const bool in_parts =
        parameter.cutting_ranks(execution) > 1 && parameter.sharding != Sharding::Vocabulary;
    const int parts = in_parts ? parameter.parts : 1;
    const std::int64_t share = local[cut] / parts;
    const std::int64_t part = parameter.shape[cut] / parts;
    std::vector<Share> shares;
    for (int i = 0; i < parts; ++i) {
        Share next{whole(local), whole(local)};
        next.local.begin[cut] = i * share;
        next.global.begin[cut] = i * part + cutting_rank * share;
        const std::int64_t unpadded = (i + 1) * part - next.global.begin[cut];
        if (unpadded <= 0) continue;  // the rank holds nothing but padding
        next.local.extent[cut] = next.global.extent[cut] = std::min(share, unpadded);
        shares.push_back(std::move(next));
    }
    return shares;
}

}  // namespace

Dimensions local_shape(const Parameter& parameter, const Execution& execution) {
    Dimensions shape = parameter.shape;
    if (parameter.sharding == Sharding::Replicated) return shape;
    std::int64_t& cut = shape[parameter.cut_dimension];
    const std::int64_t others = parameter.elements() / cut;
    DEBUBBLE_CHECK(
        parameter.sharding == Sharding::Vocabulary ||
            cut % (std::int64_t{parameter.parts} * parameter.cutting_ranks(execution)) == 0,
        "a graph's parameters can be cut");
    cut = parameter.elements_of_rank(execution) / others;
    return shape;
}

std::vector<Slice> slices_of(const Parameter& parameter, const Execution& execution,
                             int cutting_rank, std::optional<FlatRange> range) {
    const Dimensions local = local_shape(parameter, execution);
    const Dimensions strides = row_major_strides(local);
    const FlatRange asked = range.value_or(FlatRange{0, elements_of(local)});
    const std::vector<Share> shares = shares_of(parameter, execution, cutting_rank);
    std::vector<Slice> slices;
    for (const Box& box : boxes_of_range(local, asked.first, asked.count)) {
        for (const Share& share : shares) {
            const std::optional<Box> common = intersection(box, share.local);
            if (!common) continue;
            Slice slice{*common, -asked.first, strides};
            for (std::size_t d = 0; d < local.size(); ++d) {
                slice.offset += common->begin[d] * strides[d];
                slice.box.begin[d] += share.global.begin[d] - share.local.begin[d];
            }
            slices.push_back(std::move(slice));
        }
    }
    return slices;
}

}  // namespace debubble::exec
