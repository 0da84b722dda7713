#include "exec/cuda/kernels/geometry.h"

#include <gmock/gmock.h>

#include <vector>

#include "exec/cuda/products/matmul.h"

/// The launches of kernels for the shapes of large models.
namespace debubble::exec::cuda {
namespace {

void expect_legal(const Geometry& how) {
    EXPECT_GT(how.blocks, 0);
    EXPECT_LE(how.blocks, kMaxBlocks);
    EXPECT_LE(how.threads, kMaxThreads);
    EXPECT_EQ(how.threads % kWarp, 0);
    EXPECT_LE(how.shared_bytes, kMaxSharedBytes);
}

TEST(Geometry, StaysWithinTheLimitsOfAGpu) {
    constexpr std::int64_t kTokens = 1 << 20, kVocabulary = 256000, kParameters = 4'000'000'000;
    for (const Geometry& how :
         {over_elements(1), over_elements(kTokens * 65536), over_elements(kTokens * kVocabulary),
          over_rows(kTokens), over_norm_rows(kTokens, 768), over_column_chunks(kTokens, 65536),
          over_columns(65536), over_partials(kParameters), over_embedding(16384)})
        expect_legal(how);
    for (const HeadWidths widths : {kNarrowHeads, kWideHeads, kLatentHeads})
        for (const std::int64_t rows : {1, 63, 64, 65, 131072}) {
            expect_legal(over_queries(1024, rows, widths));
            expect_legal(over_queries_backward(1024, rows, widths));
            expect_legal(over_keys_backward(1024, rows, widths));
            expect_legal(over_queries_tensor(1024, rows, widths));
            expect_legal(over_rows_tensor_backward(1024, rows, widths));
        }
}

TEST(Geometry, PadsHeadsToTheNextWidths) {
    const auto padded = [](std::int64_t keys, std::int64_t values) {
        const HeadWidths widths = widths_of(keys, values);
        return std::pair{widths.keys, widths.values};
    };
    EXPECT_EQ(padded(1, 1), (std::pair{64, 64}));
    EXPECT_EQ(padded(64, 64), (std::pair{64, 64}));
    EXPECT_EQ(padded(65, 65), (std::pair{128, 128}));
    EXPECT_EQ(padded(40, 72), (std::pair{128, 128}));
    EXPECT_EQ(padded(192, 128), (std::pair{192, 128}));
    EXPECT_TRUE(has_widths_for(192, 128));
    EXPECT_FALSE(has_widths_for(193, 128));
    EXPECT_FALSE(has_widths_for(192, 129));
}

/// Two blocks of attention at once on a multiprocessor of compute capability 8.0 and 9.0: where
/// their registers allow them, their shared memory must, too.
TEST(Geometry, LeavesRoomForTwoBlocksOfAttention) {
    constexpr std::int64_t kOfMultiprocessor = 164 * 1024, kOfSystem = 1024;
    for (const HeadWidths widths : {kNarrowHeads, kWideHeads})
        for (const Geometry& how :
             {over_queries_tensor(1, 1, widths), over_rows_tensor_backward(1, 1, widths)})
            EXPECT_LE(2 * (how.shared_bytes + kOfSystem), kOfMultiprocessor);
}

TEST(Geometry, OfNothingLaunchesNothing) {
    EXPECT_EQ(over_elements(0).blocks, 0);
    EXPECT_EQ(over_rows(0).blocks, 0);
    EXPECT_EQ(over_column_chunks(0, 5).blocks, 0);
    EXPECT_EQ(over_partials(0).blocks, 0);
    EXPECT_EQ(over_queries(4, 0, kNarrowHeads).blocks, 0);
}

TEST(Geometry, GivesEveryElementOneThread) {
    for (const std::int64_t elements : {1, 7, 8, 9, 2047, 2048, 2049, 100003}) {
        const Geometry how = over_elements(elements);
        const std::int64_t reached = how.blocks * how.threads * kElementsEach;
        EXPECT_GE(reached, elements);
        EXPECT_LT(reached - elements, std::int64_t{how.threads} * kElementsEach)
            << "no block has nothing to do";
    }
}

TEST(Geometry, GivesEveryElementOfANormsRowToARun) {
    for (const std::int64_t hidden : {1, 255, 256, 257, 768, 1600, 4096, 4097, 12288, 16384}) {
        const Geometry how = over_norm_rows(5, hidden);
        expect_legal(how);
        EXPECT_EQ(how.blocks, 5);
        EXPECT_LE(how.threads, kNormThreads);
        const std::int64_t turn = std::int64_t{how.threads} * kElementsEach;
        const int runs = runs_of_norm(hidden);
        EXPECT_GE(turn * runs, hidden);
        EXPECT_LE(turn * runs / 2, std::max<std::int64_t>(hidden, kWarp * kElementsEach));
    }
    EXPECT_EQ(runs_of_norm(16385), 0);  // read again
    EXPECT_EQ(over_norm_rows(5, 65536).threads, kNormThreads);
    EXPECT_EQ(over_norm_rows(0, 64).blocks, 0);
}

TEST(Geometry, GivesEveryColumnOfAChunkToAThread) {
    for (const std::int64_t rows : {1, 33, 4096, 100001})
        for (const std::int64_t columns : {1, 8, 9, 768, 50257}) {
            const Geometry how = over_column_chunks(rows, columns);
            const std::int64_t wanted = chunks_of(rows) * ceil_div(columns, std::int64_t{8});
            EXPECT_GE(how.blocks * how.threads, wanted);
            EXPECT_LT(how.blocks * how.threads - wanted, how.threads);
            EXPECT_EQ(over_columns(columns).blocks, ceil_div(columns, std::int64_t{kWarp}));
        }
}

TEST(Geometry, ChunksCoverAllRowsOnce) {
    for (const std::int64_t rows : {1, 31, 32, 33, 111, 4096, 100001}) {
        const std::int64_t chunks = chunks_of(rows);
        EXPECT_EQ(first_of_chunk(0, chunks, rows), 0);
        EXPECT_EQ(first_of_chunk(chunks, chunks, rows), rows);
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
            EXPECT_LT(first_of_chunk(chunk, chunks, rows), first_of_chunk(chunk + 1, chunks, rows));
    }
}

TEST(Product, IsItsTransposeToALibraryThatCountsByColumns) {
    // y [5, 3] = x [5, 7] w, w stored as [3, 7].
    const Product product{5, 3, 7, {{}, 7, false}, {{}, 7, true}, {}, false, {}};
    const ColumnMajorProduct by = by_columns(product);
    EXPECT_EQ(by.first, (ColumnMajor{7, 3, 7, true}));    // w by columns is [7, 3]
    EXPECT_EQ(by.second, (ColumnMajor{7, 5, 7, false}));  // x is [7, 5]
    EXPECT_EQ(by.result, (ColumnMajor{3, 5, 3, false}));
}

}  // namespace
}  // namespace debubble::exec::cuda
