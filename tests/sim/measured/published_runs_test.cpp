#include <regex>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "sim/measured/published_runs.h"
#include "tests/support/source_folder.h"

/// The useful share of the time of published trainings.
namespace debubble::sim {
namespace {

std::vector<PublishedRun> published() {
    const auto path = source_folder() / "bench/measured/runs/published.jsonl";
    return predict_published_runs(read_file(path), path.string());
}

TEST(PublishedShares, ArePredictedWithinThreePointsInTheMedian) {
    const std::vector<PublishedRun> runs = published();
    EXPECT_GE(runs.size(), 8u);
    EXPECT_LE(median_error(runs), 3);
    for (const PublishedRun& run : runs) {
        EXPECT_FALSE(run.source.empty() || run.inputs.empty() || run.why.empty()) << run.row;
        EXPECT_EQ(run.predicted.hopeless, 0) << run.row;
    }
}

/// Also without rows that restate a formula or hold by their bound: those that were measured.
TEST(PublishedShares, ThatWereMeasuredArePredictedAsWell) {
    std::vector<PublishedRun> measured;
    for (PublishedRun& run : published())
        if (run.kind == "measured" && run.stated.low == run.stated.high)
            measured.push_back(std::move(run));
    EXPECT_GE(measured.size(), 8u);
    EXPECT_LE(median_error(measured), 3);
}

/// Sentences of the page go on over its lines, which are indented in a list.
std::string on_one_line(const std::string& page) {
    return std::regex_replace(page, std::regex("\\n +"), " ");
}

TEST(PublishedShares, StandOnTheirPage) {
    const std::string page = read_file(source_folder() / "docs/jobs/plan-a-run.md");
    const std::vector<PublishedRun> runs = published();
    for (const PublishedRun& run : runs) {
        const std::size_t at = page.find(fmt::format("| {} | {} |", run.row, run.kind));
        ASSERT_NE(at, std::string::npos) << run.row;
        EXPECT_THAT(page.substr(at, page.find('\n', at) - at),
                    testing::HasSubstr(fmt::format(" {:.1f} % | {:.1f} | {} |",
                                                   100 * run.predicted.goodput(), run.error(),
                                                   run.source)));
        EXPECT_THAT(on_one_line(page), testing::HasSubstr(run.why)) << run.row;
    }
    EXPECT_THAT(page, testing::HasSubstr(fmt::format(
                          "The median error is {:.1f} points of {} rows, the worst {:.1f}.",
                          median_error(runs), runs.size(), sorted_errors(runs).back())));
}

TEST(PublishedShares, HaveAnErrorOnlyOutsideOfWhatIsStated) {
    EXPECT_EQ((StatedShare{0.9, 1}.error_of(0.95)), 0);
    EXPECT_NEAR((StatedShare{0.9, 1}.error_of(0.85)), 5, 1e-9);
    EXPECT_NEAR((StatedShare{0.55, 0.57}.error_of(0.60)), 3, 1e-9);
    EXPECT_NEAR((StatedShare{0.44, 0.44}.error_of(0.40)), 4, 1e-9);
}

TEST(PublishedShares, NameTheMistakesOfATable) {
    const std::string text =
        "{\"row\": \"a\", \"source\": \"s\", \"kind\": \"model\", \"useful\": {\"share\": 2}, "
        "\"run\": {\"machines\": 0, \"gpus\": 8, \"work\": \"1 d\", \"step\": \"1 s\", "
        "\"reliability\": {\"restart\": \"5\"}}}\n";
    EXPECT_TRUE(has_published_runs(text));
    EXPECT_FALSE(has_published_runs("{\"row\": \"a\", \"measured\": {}}"));
    try {
        (void)predict_published_runs(text, "t.jsonl");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("t.jsonl:1:"));
        EXPECT_THAT(error.what(), testing::HasSubstr("'machines'"));
        EXPECT_THAT(error.what(), testing::HasSubstr("'share'"));
    }
}

}  // namespace
}  // namespace debubble::sim
