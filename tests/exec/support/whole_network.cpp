#include "tests/exec/support/whole_network.h"

#include <utility>
#include <vector>

#include "exec/core/stage/operators/run_operator.h"
#include "exec/core/stage/passes/model_stage.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/stage_parameters.h"

namespace debubble::exec {

std::map<std::string, Tensor> named_weights(const models::Architecture& model,
                                            const PieceSource& source) {
    std::map<std::string, Tensor> tensors;
    std::vector<WantedPiece> wanted;
    for (const models::Parameter& parameter : models::whole_parameters(model)) {
        Tensor& tensor =
            tensors.emplace(parameter.name, Tensor(shape_of(parameter.shape))).first->second;
        for (WantedPiece& piece :
             pieces_of(parameter, {}, 0, kinds::kParameter, DataType::Fp32, tensor.view().data))
            wanted.push_back(std::move(piece));
    }
    for (const models::Buffer& buffer : models::whole_buffers(model)) {
        Tensor& tensor = tensors.emplace(buffer.name, Tensor(shape_of(buffer.shape))).first->second;
        wanted.push_back(piece_of(buffer, tensor.view().data));
    }
    load(source, wanted);
    return tensors;
}

Trained train_once(const models::Architecture& model, const std::map<std::string, Tensor>& weights,
                   const Tensor& inputs, const Tensor& targets, Kernels& kernels,
                   double mtp_loss_scaling_factor) {
    check_supported(model);
    models::Execution how;
    how.micro_batch = inputs.shape()[0];
    how.seq_length = inputs.shape()[1];
    how.compute = models::DataType::Fp32;
    how.kernels.vocabulary_multiple = 1;
    const models::StageGraph graph =
        models::build_stage(model, how, {0, model.layers.count(), true, true});
    FlatParameters parameters(graph, weights);
    Arena arena(Bytes{64 << 20});
    StageTools tools{kernels, arena, parameters};
    tools.mtp_loss_scaling_factor = mtp_loss_scaling_factor;
    const std::unique_ptr<StageRunner> stage = make_model_stage({graph}, tools);
    const auto count = static_cast<double>(targets.shape().elements());
    StepInputs step;
    step.gradient_scale = 1 / count;
    step.micro_batches = {{inputs.view(), targets.view(), 0}};
    stage->begin_step(step);
    stage->forward({0, {}}, {});
    stage->backward({0, {}}, {});
    Trained trained;
    trained.loss = stage->loss_total() / count;
    trained.ahead = stage->ahead_loss_total() / count;
    parameters.add_gradients(trained.gradients);
    stage->end_step();
    return trained;
}

}  // namespace debubble::exec
