#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "exec/core/pieces/pieces.h"

namespace debubble::exec {
namespace {

using models::Execution;
using models::Parameter;
using models::Sharding;

/// Row-major places of a box's elements, in row-major order.
std::vector<std::int64_t> places(const Box& box, const Dimensions& shape) {
    const Dimensions strides = row_major_strides(shape);
    std::vector<std::int64_t> found = {0};
    for (std::size_t d = 0; d < shape.size(); ++d) {
        std::vector<std::int64_t> next;
        for (const std::int64_t place : found)
            for (std::int64_t i = 0; i < box.extent[d]; ++i)
                next.push_back(place + (box.begin[d] + i) * strides[d]);
        found = std::move(next);
    }
    return found;
}

Dimensions random_shape(std::mt19937& random, int most_dimensions, int most) {
    Dimensions shape(1 + random() % most_dimensions);
    for (std::int64_t& extent : shape) extent = 1 + random() % most;
    return shape;
}

TEST(Box, ARangeBecomesBoxesInItsOrder) {
    std::mt19937 random(1);
    for (int i = 0; i < 3000; ++i) {
        const Dimensions shape = random_shape(random, 5, 5);
        const std::int64_t elements = elements_of(shape);
        const std::int64_t first = random() % (elements + 1);
        const std::int64_t count = random() % (elements - first + 1);
        std::vector<std::int64_t> covered;
        const std::vector<Box> boxes = boxes_of_range(shape, first, count);
        for (const Box& box : boxes)
            for (const std::int64_t place : places(box, shape)) covered.push_back(place);
        std::vector<std::int64_t> expected(count);
        std::iota(expected.begin(), expected.end(), first);
        ASSERT_EQ(covered, expected) << text(shape) << " from " << first;
        EXPECT_LT(boxes.size(), 2 * shape.size());
    }
}

TEST(Box, ARangeOfAScalarAndOfNothing) {
    EXPECT_EQ(boxes_of_range({}, 0, 1), std::vector<Box>{Box{}});
    EXPECT_TRUE(boxes_of_range({3, 4}, 5, 0).empty());
    EXPECT_TRUE(boxes_of_range({0, 4}, 0, 0).empty());
}

TEST(Box, TheDifferenceIsWhatIsNotTaken) {
    std::mt19937 random(2);
    for (int i = 0; i < 3000; ++i) {
        const Dimensions shape = random_shape(random, 4, 5);
        const auto box = [&] {
            Box some = whole(shape);
            for (std::size_t d = 0; d < shape.size(); ++d) {
                some.begin[d] = random() % shape[d];
                some.extent[d] = 1 + random() % (shape[d] - some.begin[d]);
            }
            return some;
        };
        const Box from = box();
        const Box taken = box();
        std::vector<int> owners(elements_of(shape));
        for (const std::int64_t place : places(from, shape)) owners[place] = 1;
        for (const std::int64_t place : places(taken, shape)) owners[place] = 0;
        for (const Box& rest : difference(from, taken))
            for (const std::int64_t place : places(rest, shape)) {
                ASSERT_EQ(owners[place], 1) << text(from) << " - " << text(taken);
                owners[place] = 2;
            }
        ASSERT_EQ(std::count(owners.begin(), owners.end(), 1), 0)
            << text(from) << " - " << text(taken);
    }
}

/// A tensor-parallel cut by its definition: every part is cut in equal shares, and a rank has its
/// share of each, one after another.
std::vector<std::int64_t> elements_of_rank(const Parameter& parameter, int rank, int size) {
    const Dimensions& shape = parameter.shape;
    const Dimensions strides = row_major_strides(shape);
    const int cut = parameter.cut_dimension;
    const std::int64_t part = shape[cut] / parameter.parts;
    std::vector<std::int64_t> kept;  // along the cut dimension, in the rank's order
    for (int p = 0; p < parameter.parts; ++p)
        for (std::int64_t i = 0; i < part / size; ++i)
            kept.push_back(p * part + rank * (part / size) + i);
    std::vector<std::int64_t> found = {0};
    for (std::size_t d = 0; d < shape.size(); ++d) {
        std::vector<std::int64_t> next;
        for (const std::int64_t place : found) {
            if (static_cast<int>(d) == cut) {
                for (const std::int64_t index : kept) next.push_back(place + index * strides[d]);
            } else {
                for (std::int64_t i = 0; i < shape[d]; ++i) next.push_back(place + i * strides[d]);
            }
        }
        found = std::move(next);
    }
    return found;
}

TEST(Slice, EveryElementOfARangeIsWhereTheRankHasIt) {
    std::mt19937 random(3);
    for (int i = 0; i < 2000; ++i) {
        Execution execution;
        execution.tensor = 1 + static_cast<int>(random() % 4);
        Parameter parameter;
        parameter.sharding = Sharding::Column;
        parameter.shape = random_shape(random, 3, 4);
        parameter.parts = 1 + static_cast<int>(random() % 3);
        parameter.cut_dimension = static_cast<int>(random() % parameter.shape.size());
        parameter.shape[parameter.cut_dimension] *= execution.tensor * parameter.parts;
        const auto shards = static_cast<std::int64_t>(1 + random() % 4);
        for (int rank = 0; rank < execution.tensor; ++rank) {
            const std::vector<std::int64_t> expected =
                elements_of_rank(parameter, rank, execution.tensor);
            const auto elements = static_cast<std::int64_t>(expected.size());
            ASSERT_EQ(elements_of(local_shape(parameter, execution)), elements);
            std::vector<std::int64_t> found(elements, -1);
            for (std::int64_t shard = 0; shard < shards; ++shard) {
                const std::int64_t first = elements * shard / shards;
                const std::int64_t count = elements * (shard + 1) / shards - first;
                for (const Slice& slice :
                     slices_of(parameter, execution, rank, FlatRange{first, count})) {
                    const auto global = places(slice.box, parameter.shape);
                    std::size_t next = 0;
                    Box local = slice.box;  // the same box, counted in the rank's memory
                    std::vector<std::int64_t> memory = {slice.offset};
                    for (std::size_t d = 0; d < local.extent.size(); ++d) {
                        std::vector<std::int64_t> more;
                        for (const std::int64_t place : memory)
                            for (std::int64_t k = 0; k < local.extent[d]; ++k)
                                more.push_back(place + k * slice.strides[d]);
                        memory = std::move(more);
                    }
                    for (const std::int64_t place : memory) {
                        ASSERT_GE(place, 0);
                        ASSERT_LT(place, count);
                        ASSERT_EQ(found[first + place], -1);
                        found[first + place] = global[next++];
                    }
                }
            }
            ASSERT_EQ(found, expected) << text(parameter.shape) << " cut " << execution.tensor;
        }
    }
}

TEST(Slice, PaddedRowsOfTheVocabularyAreNobodys) {
    const Parameter table{"wte.weight", {13, 4}, Sharding::Vocabulary, 0, 1, {}};
    Execution execution;
    execution.tensor = 4;
    execution.kernels.vocabulary_multiple = 2;  // 16 rows, 4 of them on each rank
    EXPECT_EQ(local_shape(table, execution), (Dimensions{4, 4}));
    const Dimensions strides = {4, 1};
    EXPECT_EQ(slices_of(table, execution, 2), (std::vector<Slice>{{{{8, 0}, {4, 4}}, 0, strides}}));
    EXPECT_EQ(slices_of(table, execution, 3),
              (std::vector<Slice>{{{{12, 0}, {1, 4}}, 0, strides}}));
    execution.kernels.vocabulary_multiple = 8;  // 32 rows: the last ranks have padding only
    EXPECT_EQ(slices_of(table, execution, 1).size(), 1u);
    EXPECT_TRUE(slices_of(table, execution, 3).empty());
}

}  // namespace
}  // namespace debubble::exec
