#include "models/execution/laws.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "text/shipped_files.h"

namespace debubble::models {
namespace {

std::string shipped_text() {
    return read_file(text::data_folder() / "scenarios" / "laws" / "constants.json");
}

std::string with(const std::string& from, const std::string& to) {
    std::string text = shipped_text();
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
    try {
        parse_laws(text, "laws.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(Laws, SayTheSourceOfEveryConstant) {
    EXPECT_GT(law_constants().size(), 30u);
    for (const LawConstant& constant : law_constants()) {
        EXPECT_FALSE(constant.value.empty()) << constant.name;
        EXPECT_GT(constant.source.size(), 20u) << constant.name;
    }
}

TEST(Laws, TakeWhatTheFileSays) {
    const LawFile read = parse_laws(with("\"host_norm\": 4", "\"host_norm\": 5"), "laws.json");
    EXPECT_EQ(read.laws.host_norm, 5);
    EXPECT_EQ(laws().host_norm, 4);
    EXPECT_EQ(read.laws.gemm_tiles.front().rows, 256);
    EXPECT_EQ(read.laws.nccl_protocols.size(), 2u);
}

TEST(Laws, LackNoConstant) {
    EXPECT_THAT(complaint(with("\"host_norm\": 4", "")), testing::HasSubstr("host_norm"));
}

TEST(Laws, HaveNoConstantThatNothingReads) {
    EXPECT_THAT(complaint(with("\"host_norm\": 4", "\"host_norm\": 4, \"host_nrm\": 3")),
                testing::AllOf(testing::HasSubstr("laws.json:"), testing::HasSubstr("host_nrm")));
}

TEST(Laws, HaveOneValueForEachConstant) {
    EXPECT_THAT(
        complaint(with("\"tree_bandwidth\": 0.92", "\"tree_bandwidth\": 1, \"tf32_time\": 1")),
        testing::HasSubstr("'tf32_time' is given twice"));
}

TEST(Laws, HaveASource) {
    EXPECT_THAT(complaint(with("\"source\": \"Device and host", "\"origin\": \"Device and host")),
                testing::HasSubstr("source"));
    EXPECT_THAT(complaint(with("\"provenance\": \"fitted\"", "\"provenance\": \"guessed\"")),
                testing::HasSubstr("'provenance' must be one of datasheet, measured"));
}

TEST(Laws, HaveNumbersInTheirRange) {
    EXPECT_THAT(complaint(with("\"host_norm\": 4", "\"host_norm\": 0.5")),
                testing::HasSubstr("laws.json:"));
    EXPECT_THAT(complaint(with("[256, 128, 1.0]", "[256, -128, 1.0]")),
                testing::HasSubstr("'gemm_tiles' must have three numbers above 0"));
    EXPECT_THAT(complaint(with("[256, 128, 1.0]", "[256, 128]")),
                testing::HasSubstr("'gemm_tiles' must have three numbers above 0"));
}

}  // namespace
}  // namespace debubble::models
