#include "trace/picture/document/work_sums.h"

#include <numeric>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

std::vector<WorkSums::Piece> random_pieces(std::mt19937& random, std::size_t count) {
    std::vector<WorkSums::Piece> pieces;
    for (const Bar& bar : random_bars(random, count)) {
        WorkSums::Piece& piece = pieces.emplace_back(WorkSums::Piece{bar.range(), {}});
        const std::int64_t length = bar.range().length().count();
        const auto exposed = std::uniform_int_distribution<std::int64_t>(0, length)(random);
        piece.work[0] = exposed;
        piece.work[1 + random() % (kWorkKinds - 1)] = length - exposed;
    }
    return pieces;
}

TEST(WorkSums, AddUpToTheCoveredTimeOfAnyWindow) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        const std::vector<WorkSums::Piece> pieces = random_pieces(random, 1 + random() % 200);
        const WorkSums sums(pieces);
        const std::int64_t end = pieces.back().range.end.time_since_epoch().count() + 100;
        std::uniform_int_distribution<std::int64_t> anywhere(0, end);
        for (int i = 0; i < 50; ++i) {
            const auto [from, to] = std::minmax({anywhere(random), anywhere(random)});
            WorkArea expected{};
            for (const WorkSums::Piece& piece : pieces) {
                const Instant begin = std::max(piece.range.begin, at(from));
                const Instant last = std::min(piece.range.end, at(to));
                if (last <= begin) continue;
                const double share = seconds(last - begin) / seconds(piece.range.length());
                for (std::size_t k = 0; k < kWorkKinds; ++k)
                    expected[k] += std::llround(share * static_cast<double>(piece.work[k]));
            }
            const WorkArea found = sums.over({at(from), at(to)});
            for (std::size_t k = 0; k < kWorkKinds; ++k)
                EXPECT_LE(std::abs(found[k] - expected[k]), 3) << k;
        }
    }
}

TEST(WorkSums, OfAWalkAreThoseOfSingleQuestions) {
    std::mt19937 random(8);
    const WorkSums sums(random_pieces(random, 3000));
    for (const std::int64_t step : {1, 17, 900, 40'000}) {
        WorkSums::Walk walk(sums);
        for (std::int64_t ns = 0, n = 0; n < 2000; ns += step, ++n)
            EXPECT_EQ(walk.until(at(ns)), sums.over({at(0), at(ns)})) << ns;
    }
    EXPECT_EQ(WorkSums().over({at(0), at(5)}), WorkArea{});
    EXPECT_EQ(WorkSums().all(WorkKind::Exposed), 0);
}

}  // namespace
}  // namespace debubble::gui
