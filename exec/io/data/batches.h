#pragma once

#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "exec/io/data/data_set.h"

/// The batches of a training, distributed over its ranks.
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

/// The place in storage of the sample that an epoch shows at `index` when it shuffles `count`
/// samples: a permutation of 0 .. count - 1 that needs no memory and no earlier draw, so that
/// training resumes anywhere. It is a Feistel network over the next power of four, repeated until
/// it lands inside (Black, Rogaway 2002, "Ciphers with Arbitrary Finite Domains"), with Philox as
/// its round function. Precondition: 0 <= index < count.
std::int64_t shuffled(std::int64_t index, std::int64_t count, std::uint64_t seed,
                      std::int64_t epoch);

/// A rank's part of a step's data.
struct StepBatches {
    std::vector<Batch> micro_batches;
    std::int64_t counted = 0;  ///< targets of the global batch that count
};

/// The batches of a rank's steps. Where a device computes, the host is free meanwhile, and a thread
/// fills those of the next step, so that reading data holds up no step. Where the processor
/// computes, they are filled when they are asked for.
class BatchesAhead {
public:
    /// The rank's place; `micro_batches` empty ones where the rank needs no data.
    struct Wish {
        std::int64_t data_rank = 0;
        std::int64_t micro_batches = 0;
        bool needs_data = true;
        bool ahead = false;
    };
    /// `batches` must outlive this object.
    BatchesAhead(const Batches& batches, const Wish& wish);

    /// The batches of a step, which stay as they are until the next call. Throws InputError where
    /// the data is bad: of the step that is asked for, not of one that was filled ahead.
    const StepBatches& of(std::int64_t step);

private:
    void fill(std::int64_t step, StepBatches& into) const;

    const Batches& batches_;
    Wish wish_;
    std::array<StepBatches, 2> both_;
    std::size_t current_ = 0;
    std::optional<std::int64_t> step_ahead_;
    std::future<void> filled_;  ///< of the other one; destroyed first, which waits for the thread
};

}  // namespace debubble::exec
