#include "exec/program/sample/language_model.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace debubble::exec {

namespace {

Shape shape_of(const Dimensions& shape) {
    switch (shape.size()) {
        case 1: return {shape[0]};
        case 2: return {shape[0], shape[1]};
        case 3: return {shape[0], shape[1], shape[2]};
        case 4: return {shape[0], shape[1], shape[2], shape[3]};
        default: assert(false && "a weight has one to four dimensions"); return {};
    }
}

/// Each parameter once: operator by operator, an operator's weights, then its biases.
std::vector<const models::Parameter*> side_by_side(const models::StageGraph& graph) {
    std::vector<const models::Parameter*> order;
    for (const models::Operator& op : graph.operators)
        for (const int index : op.parameters_in_memory()) {
            const models::Parameter& parameter = graph.parameters[index];
            if (std::ranges::find(order, &parameter) == order.end()) order.push_back(&parameter);
        }
    return order;
}

}  // namespace

NetworkWeights::NetworkWeights(const models::StageGraph& whole, const PieceSource& source) {
    const std::vector<const models::Parameter*> order = side_by_side(whole);
    memory_ = Tensor({size(whole).count / size_of(DataType::Fp32)});
    std::vector<WantedPiece> wanted;
    std::byte* place = memory_.view().data;
    for (const models::Parameter* parameter : order) {
        const TensorView view{place, shape_of(parameter->shape), DataType::Fp32};
        views_.emplace(stored_name(*parameter), view);
        std::ranges::move(
            pieces_of(*parameter, whole.execution, 0, kinds::kParameter, DataType::Fp32, place),
            std::back_inserter(wanted));
        place += view.bytes();
    }
    for (const models::Buffer& buffer : whole.buffers) {
        const TensorView view{place, shape_of(buffer.shape), DataType::Fp32};
        views_.emplace(buffer.name, view);
        wanted.push_back(piece_of(buffer, place));
        place += view.bytes();
    }
    check_stored(source, wanted);
    load(source, wanted);
}

Bytes NetworkWeights::size(const models::StageGraph& whole) {
    std::int64_t elements = 0;
    for (const models::Parameter* parameter : side_by_side(whole))
        elements += parameter->elements();
    for (const models::Buffer& buffer : whole.buffers) elements += elements_of(buffer.shape);
    return Bytes{elements * size_of(DataType::Fp32)};
}

void NetworkWeights::move_to(Kernels& kernels, Arena& arena) {
    on_device_ =
        arena.allocate(memory_.shape(), DataType::Fp32, MemoryClass::Parameters, "weights");
    kernels.upload(memory_.view(), on_device_.view());
    kernels.finish();
    for (auto& [name, view] : views_)
        view.data = on_device_.view().data + (view.data - memory_.view().data);
    memory_ = {};
}

const TensorView& NetworkWeights::of(const models::Parameter& parameter) const {
    return views_.at(stored_name(parameter));
}
const TensorView& NetworkWeights::of(const models::Buffer& buffer) const {
    return views_.at(buffer.name);
}

}  // namespace debubble::exec
