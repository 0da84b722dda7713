#include "exec/io/data/batches.h"

#include <cassert>
#include <limits>
#include <utility>

namespace debubble::exec {

Batches::Batches(std::shared_ptr<const DataSet> data, const Deal& deal, const Order& order)
    : data_(std::move(data)), deal_(deal), order_(order) {
    assert(deal.global_batch % (deal.data_ranks * deal.micro_batch) == 0 && "no equal shares");
}

std::int64_t Batches::steps(std::int64_t epochs) const {
    const double samples = static_cast<double>(epochs) * static_cast<double>(data_->samples());
    if (samples > 9e18) return std::numeric_limits<std::int64_t>::max();
    return (epochs * data_->samples() + deal_.global_batch - 1) / deal_.global_batch;
}

std::int64_t Batches::sample_at(std::int64_t place) const {
    const std::int64_t count = data_->samples();
    const std::int64_t index = place % count;
    return order_.shuffled ? shuffled(index, count, order_.seed, place / count) : index;
}

void Batches::fill(const MicroBatchPlace& at, Batch& batch) const {
    assert(at.data_rank < deal_.data_ranks && at.micro_batch < deal_.micro_batches());
    const std::int64_t first = at.step * deal_.global_batch + at.data_rank * deal_.share() +
                               at.micro_batch * deal_.micro_batch;
    batch.counted = 0;
    for (std::int64_t row = 0; row < deal_.micro_batch; ++row) {
        if (holds(first + row))
            batch.counted += data_->read(sample_at(first + row), row, batch);
        else
            data_->read_nothing(row, batch);
    }
}

std::int64_t Batches::counted(std::int64_t step) const {
    const std::int64_t first = step * deal_.global_batch;
    std::int64_t counted = 0;
    for (std::int64_t place = first; place < first + deal_.global_batch; ++place)
        if (holds(place)) counted += data_->counted(sample_at(place));
    return counted;
}

}  // namespace debubble::exec
