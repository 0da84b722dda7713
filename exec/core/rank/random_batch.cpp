#include "exec/core/rank/rank_job.h"

#include <random>

namespace debubble::exec {

RandomBatch::RandomBatch(const scenarios::Scenario& scenario)
    : all_micro_batches_(scenario.all_micro_batches()) {
    const models::Architecture& model = scenario.model;
    const scenarios::Training& training = scenario.training;
    const bool images = model.sees_images();
    const std::int64_t samples = training.micro_batch;
    const std::int64_t side = model.image_size.value_or(1);
    const Shape tokens{samples, training.seq_length};
    std::mt19937 random(1);
    std::uniform_int_distribution<std::int32_t> entry(0,
                                                      static_cast<std::int32_t>(model.vocab - 1));
    std::uniform_real_distribution<float> pixel(-1, 1);
    for (int mb = 0; mb < training.micro_batches; ++mb) {
        Sample sample{images ? Tensor({samples, model.channels.value_or(3), side, side})
                             : Tensor(tokens, DataType::Int32),
                      Tensor(images ? Shape{samples} : tokens, DataType::Int32)};
        if (images)
            for (float& value : sample.inputs.as<float>()) value = pixel(random);
        else
            for (std::int32_t& token : sample.inputs.as<std::int32_t>()) token = entry(random);
        for (std::int32_t& target : sample.targets.as<std::int32_t>()) target = entry(random);
        targets_ += sample.targets.shape().elements() * scenario.parallel.data;
        micro_batches_.push_back(std::move(sample));
    }
}

StepInputs RandomBatch::inputs(std::int64_t step, double loss_scale) const {
    StepInputs inputs;
    inputs.step = step;
    inputs.gradient_scale = loss_scale / static_cast<double>(targets_);
    inputs.micro_batch_scale = loss_scale / static_cast<double>(all_micro_batches_);
    std::int64_t first_sample = 0;
    for (const Sample& sample : micro_batches_) {
        inputs.micro_batches.push_back({sample.inputs.view(), sample.targets.view(), first_sample});
        first_sample += sample.targets.shape()[0];
    }
    return inputs;
}

}  // namespace debubble::exec
