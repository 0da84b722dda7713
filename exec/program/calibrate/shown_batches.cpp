#include "exec/program/calibrate/timed_step.h"

namespace debubble::exec {

std::optional<TrainingData> data_of(const scenarios::Scenario& scenario) {
    if (!scenario.training.run.data.has_source()) return std::nullopt;
    return open_training_data(scenario);
}

ShownBatches::ShownBatches(const scenarios::Scenario& scenario,
                           const std::optional<TrainingData>& data, int data_rank)
    : data_(data ? &*data : nullptr),
      data_rank_(data_rank),
      all_micro_batches_(scenario.all_micro_batches()) {
    if (data_ == nullptr) {
        random_.emplace(scenario);
        return;
    }
    for (int mb = 0; mb < scenario.training.micro_batches; ++mb)
        batches_.push_back(data_->train.micro_batch());
}

StepInputs ShownBatches::inputs(std::int64_t step, double loss_scale) {
    if (random_) return random_->inputs(step, loss_scale);
    StepInputs inputs;
    inputs.step = step;
    inputs.ignore_index = data_->ignore_index;
    const std::int64_t counted = data_->train.counted(step);
    inputs.gradient_scale = counted > 0 ? loss_scale / static_cast<double>(counted) : 0;
    inputs.micro_batch_scale = loss_scale / static_cast<double>(all_micro_batches_);
    const Deal& deal = data_->train.deal();
    for (std::size_t mb = 0; mb < batches_.size(); ++mb) {
        const auto index = static_cast<std::int64_t>(mb);
        data_->train.fill({step, data_rank_, index}, batches_[mb]);
        inputs.micro_batches.push_back({batches_[mb].inputs.view(), batches_[mb].targets.view(),
                                        data_rank_ * deal.share() + index * deal.micro_batch});
    }
    return inputs;
}

}  // namespace debubble::exec
