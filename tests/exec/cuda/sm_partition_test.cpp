#include "exec/cuda/sm_partition.h"

#include <gtest/gtest.h>

/// Parts of a GPU's multiprocessors, as the driver can make them.
namespace debubble::exec::cuda {
namespace {

constexpr SmLimits kHopper = sm_limits_of(9), kAmpere = sm_limits_of(8);

TEST(SmPartition, IsAMultipleOfEightOnHopper) {
    EXPECT_EQ(sm_of_each(132, 2, kHopper), 64);  // H100, H200: 132 multiprocessors
    EXPECT_EQ(sm_of_each(132, 4, kHopper), 32);
    EXPECT_EQ(sm_of_each(132, 8, kHopper), 16);
    EXPECT_EQ(sm_of_each(148, 4, kHopper), 32);  // B200
}

TEST(SmPartition, IsEvenOnAmpere) {
    EXPECT_EQ(sm_of_each(108, 4, kAmpere), 26);  // A100
    EXPECT_EQ(sm_of_each(84, 8, kAmpere), 10);
}

TEST(SmPartition, IsRefusedWhereItWouldBeTooSmall) {
    EXPECT_EQ(sm_of_each(132, 16, kHopper), 8);
    EXPECT_EQ(sm_of_each(132, 17, kHopper), std::nullopt);
    EXPECT_EQ(sm_of_each(14, 4, kAmpere), std::nullopt);
}

TEST(SmPartition, NeverHandsOutMoreThanThereIs) {
    for (const SmLimits& limits : {sm_limits_of(7), kAmpere, kHopper})
        for (int all = 1; all <= 160; ++all)
            for (int parts = 1; parts <= 16; ++parts) {
                const auto each = sm_of_each(all, parts, limits);
                if (!each) continue;
                EXPECT_LE(*each * parts, all);
                EXPECT_GE(*each, limits.least);
                EXPECT_EQ(*each % limits.alignment, 0);
                EXPECT_GT((*each + limits.alignment) * parts, all) << "none could have more";
            }
}

TEST(MultiprocessorsForProducts, AreThoseThatCommunicationsLeave) {
    EXPECT_EQ(multiprocessors_for_products(132, 0, true), 0) << "the library counts them itself";
    EXPECT_EQ(multiprocessors_for_products(64, 0, false), 64) << "a part of the GPU";
    EXPECT_EQ(multiprocessors_for_products(132, 8, true), 124);
    EXPECT_EQ(multiprocessors_for_products(64, 4, false), 60);
    EXPECT_EQ(multiprocessors_for_products(8, 8, true), 4) << "at least half";
    EXPECT_EQ(multiprocessors_for_products(1, 4, true), 1);
}

}  // namespace
}  // namespace debubble::exec::cuda
