#include "exec/io/data/batches.h"

namespace debubble::exec {

BatchesAhead::BatchesAhead(const Batches& batches, const Wish& wish)
    : batches_(batches), wish_(wish) {
    for (StepBatches& one : both_)
        for (std::int64_t mb = 0; mb < wish_.micro_batches; ++mb)
            one.micro_batches.push_back(wish_.needs_data ? batches_.micro_batch() : Batch{});
}

const StepBatches& BatchesAhead::of(std::int64_t step) {
    if (step_ahead_ == step) {
        step_ahead_.reset();
        filled_.get();
        current_ = 1 - current_;
    } else {
        if (filled_.valid()) filled_.wait();
        step_ahead_.reset();
        fill(step, both_[current_]);
    }
    if (wish_.ahead) {
        filled_ = std::async(std::launch::async,
                             [this, step, &other = both_[1 - current_]] { fill(step + 1, other); });
        step_ahead_ = step + 1;
    }
    return both_[current_];
}

void BatchesAhead::fill(std::int64_t step, StepBatches& into) const {
    into.counted = batches_.counted(step);
    for (std::size_t mb = 0; wish_.needs_data && mb < into.micro_batches.size(); ++mb)
        batches_.fill({step, wish_.data_rank, static_cast<std::int64_t>(mb)},
                      into.micro_batches[mb]);
}

}  // namespace debubble::exec
