#pragma once

#include <memory>

#include "exec/io/data/data_set.h"

namespace debubble::exec {

/// How a step's samples are divided. Precondition: data_ranks * micro_batch divides global_batch.
struct Deal {
    std::int64_t global_batch = 1;  ///< samples of a step
    std::int64_t data_ranks = 1;    ///< rank d takes the d-th contiguous share
    std::int64_t micro_batch = 1;   ///< samples of one microbatch of a rank

    std::int64_t share() const { return global_batch / data_ranks; }
    std::int64_t micro_batches() const { return share() / micro_batch; }
};

/// The order in which samples are shown, over and over or once.
struct Order {
    bool shuffled = false;
    std::uint64_t seed = 0;
    bool once = false;  ///< places after the last sample stay empty: all their targets are ignored
};

struct MicroBatchPlace {
    std::int64_t step = 0;
    std::int64_t data_rank = 0;
    std::int64_t micro_batch = 0;  ///< index of the rank's microbatch in this step
};

/// The batches of a training. They are a function of the step alone, so that training resumes
/// anywhere. Step s takes the places sG .. sG + G - 1 of a queue that shows the data set epoch
/// after epoch; an epoch may end inside a step. Any number of threads may use one.
class Batches {
public:
    Batches(std::shared_ptr<const DataSet> data, const Deal& deal, const Order& order);

    const DataSet& data() const { return *data_; }
    const Deal& deal() const { return deal_; }
    /// The least number of steps in which every sample is shown `epochs` times.
    std::int64_t steps(std::int64_t epochs) const;
    Batch micro_batch() const { return data_->batch_of(deal_.micro_batch); }
    /// Fills the batch of a place. Precondition: `batch` has micro_batch() samples. Throws
    /// InputError where the data is bad.
    void fill(const MicroBatchPlace& place, Batch& batch) const;
    /// The number of targets of the global batch that count, which is the same on every rank.
    std::int64_t counted(std::int64_t step) const;

private:
    /// The sample of the data set at a place in the queue. Precondition: see `holds`.
    std::int64_t sample_at(std::int64_t place) const;
    bool holds(std::int64_t place) const { return !order_.once || place < data_->samples(); }

    std::shared_ptr<const DataSet> data_;
    Deal deal_;
    Order order_;
};

}  // namespace debubble::exec
