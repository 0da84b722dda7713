#include "models/graph/graph.h"

#include "base/overloaded.h"
#include "models/graph/stage_sizes.h"

namespace debubble::models {

std::int64_t Parameter::elements() const {
    std::int64_t product = 1;
    for (const std::int64_t size : shape) product *= size;
    return product;
}

std::int64_t Parameter::elements_of_rank(const Execution& execution) const {
    switch (sharding) {
        case Sharding::Replicated: return count * elements();
        case Sharding::Column:
        case Sharding::Row: return count * (elements() / cutting_ranks(execution));
        case Sharding::Vocabulary: {
            const std::int64_t rows = shape[cut_dimension];
            const std::int64_t multiple =
                std::int64_t{execution.kernels.vocabulary_multiple} * execution.tensor;
            const std::int64_t padded = (rows + multiple - 1) / multiple * multiple;
            return count * (elements() / rows * (padded / execution.tensor));
        }
    }
    return 0;
}

std::vector<int> Operator::parameters_in_memory() const {
    const auto of_product = [](const op::Linear& product) {
        std::vector<int> all = product.weights;
        all.insert(all.end(), product.biases.begin(), product.biases.end());
        return all;
    };
    return std::visit(
        Overloaded{[&](const op::Linear& product) { return of_product(product); },
                   [&](const op::PatchEmbedding& patches) { return of_product(patches.product); },
                   [&](const op::ChunkedLoss& loss) { return of_product(loss.head); },
                   [&](const op::ExpertProducts& experts) {
                       std::vector<int> all = experts.weights;
                       all.insert(all.end(), experts.biases.begin(), experts.biases.end());
                       return all;
                   },
                   [&](const auto&) { return parameters; }},
        roles);
}

std::int64_t StageGraph::parameter_elements() const {
    return parameter_count().total();
}

MatrixPart part_of(const Parameter& parameter) {
    std::int64_t rows = parameter.shape.at(0), columns = parameter.shape.at(1);
    (parameter.cut_dimension == 0 ? rows : columns) /= parameter.parts;
    return parameter.transposed ? MatrixPart{columns, rows} : MatrixPart{rows, columns};
}

std::int64_t matrix_step_elements(const Parameter& parameter) {
    const auto [outputs, inputs] = part_of(parameter);
    const std::int64_t shorter = std::min(outputs, inputs);
    return parameter.elements() + 2 * outputs * inputs + 2 * shorter * shorter;
}

ParameterCount StageGraph::parameter_count() const {
    ParameterCount count;
    for (const Parameter& parameter : parameters)
        count.add(parameter, parameter.elements_of_rank(execution));
    return count;
}

Bytes StageGraph::boundary_bytes() const {
    return Bytes{sizes_of(architecture, execution).stream_bytes()};
}

Bytes StageGraph::input_bytes() const {
    const int ahead = content.predictions == Predictions::Before ? architecture.mtp_layers : 0;
    return boundary_bytes() * (ahead + architecture.stream_rows(content.first_layer));
}

Bytes StageGraph::output_bytes() const {
    if (content.predictions == Predictions::Here)
        return boundary_bytes() * (1 + architecture.mtp_layers);
    if (architecture.mixes_streams())
        return boundary_bytes() * architecture.stream_rows(content.first_layer + content.layers);
    return input_bytes();
}

}  // namespace debubble::models
