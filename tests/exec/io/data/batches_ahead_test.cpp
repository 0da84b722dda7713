#include "exec/io/data/batches.h"

#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace debubble::exec {
namespace {

/// Samples of one token, their own number; a chosen one is damaged.
class NumberedSamples final : public DataSet {
public:
    explicit NumberedSamples(std::int64_t damaged = -1) : damaged_(damaged) {}
    std::int64_t samples() const override { return 1000; }
    Batch batch_of(std::int64_t samples) const override {
        Batch batch;
        batch.inputs = Tensor({samples, 1}, DataType::Int32);
        batch.targets = Tensor({samples, 1}, DataType::Int32);
        return batch;
    }
    std::int64_t read(std::int64_t sample, std::int64_t row, Batch& batch) const override {
        if (sample == damaged_) throw InputError("a damaged sample");
        const std::lock_guard lock(mutex_);
        readers_.insert(std::this_thread::get_id());
        *batch.inputs.as<std::int32_t>().row(row) = static_cast<std::int32_t>(sample);
        return counted(sample);
    }
    void read_nothing(std::int64_t, Batch&) const override {}
    std::int64_t counted(std::int64_t sample) const override { return sample % 3; }

    bool was_read_by_others() const {
        const std::lock_guard lock(mutex_);
        return readers_.size() > readers_.count(std::this_thread::get_id());
    }

private:
    std::int64_t damaged_;
    mutable std::mutex mutex_;
    mutable std::set<std::thread::id> readers_;
};

Batches two_ranks_of(const std::shared_ptr<NumberedSamples>& data) {
    return Batches(data, {8, 2, 2}, {});
}

std::vector<std::int32_t> inputs_of(const StepBatches& step) {
    std::vector<std::int32_t> all;
    for (const Batch& batch : step.micro_batches) {
        const auto view = batch.inputs.as<std::int32_t>();
        all.insert(all.end(), view.begin(), view.end());
    }
    return all;
}

TEST(BatchesAhead, AreThoseThatAreFilledWhenTheyAreAskedFor) {
    const auto data = std::make_shared<NumberedSamples>();
    const Batches batches = two_ranks_of(data);
    BatchesAhead now(batches, {1, 2, true, false}), ahead(batches, {1, 2, true, true});
    EXPECT_FALSE(data->was_read_by_others());
    for (const std::int64_t step : {0, 1, 2, 3, 7, 8, 2, 3}) {
        const StepBatches& expected = now.of(step);
        const StepBatches& found = ahead.of(step);
        EXPECT_EQ(inputs_of(found), inputs_of(expected)) << step;
        EXPECT_EQ(found.counted, expected.counted);
        EXPECT_EQ(found.counted, batches.counted(step));
        const auto first = static_cast<std::int32_t>(step * 8 + 4);
        EXPECT_EQ(inputs_of(found), (std::vector{first, first + 1, first + 2, first + 3}));
    }
    EXPECT_TRUE(data->was_read_by_others());
}

TEST(BatchesAhead, DamagedDataIsToldInItsOwnStep) {
    const auto data = std::make_shared<NumberedSamples>(20);
    const Batches batches = two_ranks_of(data);
    BatchesAhead ahead(batches, {1, 2, true, true});
    for (const std::int64_t step : {0, 1}) EXPECT_EQ(inputs_of(ahead.of(step)).size(), 4u);
    EXPECT_THROW(ahead.of(2), InputError);
    EXPECT_EQ(inputs_of(ahead.of(3)).front(), 28) << "and no later one is lost";
}

TEST(BatchesAhead, ARankWithoutDataOnlyCounts) {
    const auto data = std::make_shared<NumberedSamples>();
    const Batches batches = two_ranks_of(data);
    BatchesAhead ahead(batches, {0, 2, false, true});
    for (const std::int64_t step : {0, 1}) {
        EXPECT_EQ(ahead.of(step).micro_batches.size(), 2u);
        EXPECT_EQ(ahead.of(step).counted, batches.counted(step));
    }
    EXPECT_FALSE(data->was_read_by_others());
}

}  // namespace
}  // namespace debubble::exec
