#include "gui/viewmodel/timeline/words.h"

#include <gmock/gmock.h>

#include "gui/viewmodel/dynamic_words.h"
#include "gui/viewmodel/timeline/answer_line.h"
#include "gui/viewmodel/timeline/wording.h"
#include "gui/viewmodel/what_if/bill_words.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "sim/bill_rows.h"
#include "sim/cost/price_part.h"
#include "sim/explain/communication.h"
#include "sim/run_plan/run_job.h"
#include "tests/gui/viewmodel/timeline/plans.h"

namespace debubble::gui {
namespace {

/// A language of capital letters that leaves placeholders alone.
std::string loud(const char*, const char* text) {
    std::string words;
    bool inside = false;
    for (const char* c = text; *c != 0; ++c) {
        inside = *c == '{' || (inside && *c != '}');
        words += inside ? *c : static_cast<char>(std::toupper(*c));
    }
    return words;
}

class SaidWords : public testing::Test {
protected:
    ~SaidWords() override { set_translator({}); }
};

TEST_F(SaidWords, are_those_of_the_code_until_there_is_a_language) {
    EXPECT_EQ(said("details", "start"), "start");
    EXPECT_EQ(filled(said("details", "{} of {} ranks: "), "1 ms", 3), "1 ms of 3 ranks: ");
}

TEST_F(SaidWords, of_a_language_may_name_their_placeholders_in_another_order) {
    set_translator([](const char* context, const char*) {
        EXPECT_STREQ(context, "details");
        return std::string("{1} Ranks, {0}");
    });
    EXPECT_EQ(filled(said("details", "{} of {} ranks: "), "1 ms", 3), "3 Ranks, 1 ms");
}

TEST_F(SaidWords, of_details_and_answers_are_all_in_the_language) {
    const Document document = document_of(plan("1f1b", 4, 8));
    set_translator(loud);
    const auto has_small = [](const std::string& name) {
        return std::ranges::any_of(name, [](char c) { return std::islower(c) != 0; });
    };
    for (const auto& details :
         {details_of(*document, 3), details_of(*document, document->bubble(0)),
          details_of_step(document->devices[0])})
        for (const Detail& detail : details) EXPECT_FALSE(has_small(detail.name)) << detail.name;
}

TEST_F(SaidWords, of_a_step_without_a_cost_keep_their_figures) {
    using std::chrono::milliseconds;
    sim::BillRow row;
    row.part.takes = milliseconds(4080);
    row.share = 0.302;
    EXPECT_EQ(takes_words(row), "4.08 s, 30.2 %");
    EXPECT_EQ(without_part_text(row), "") << "no such step can be played";
    row.part.if_free = milliseconds(13'510);
    row.shorter = 0.0004;
    EXPECT_EQ(without_part_text(row), "13.51 s, no shorter");
    set_translator(loud);
    EXPECT_EQ(without_part_text(row), "13.51 s, NO SHORTER");
    row.part.if_free = milliseconds(9435);
    row.shorter = 0.302;
    EXPECT_EQ(without_part_text(row), "9.435 s, 30.2 % SHORTER");
}

TEST_F(SaidWords, that_the_rooms_below_say_are_known_to_the_translators) {
    const auto knows = [](std::string_view context, std::string_view text) {
        return std::ranges::any_of(kDynamicWords, [&](const DynamicWord& word) {
            return word.context == context && word.text == text;
        });
    };
    for (std::size_t i = 0; i < kBubbleCauses; ++i) {
        const std::string cause(wording_of(static_cast<BubbleCause>(i)));
        EXPECT_TRUE(knows("causes", cause)) << cause;
        EXPECT_TRUE(knows("parts", "idle: " + cause)) << cause;
    }
    for (std::size_t i = 0; i < kCommunicationKinds; ++i) {
        const std::string kind = sim::words_of(static_cast<CommunicationKind>(i));
        EXPECT_TRUE(knows("kinds", kind)) << kind;
    }
    for (const Generator& schedule : generators())
        EXPECT_TRUE(knows("schedules", schedule.summary)) << schedule.name;
    for (const char* plan : {"gpt3-175b", "deepseek-v3", "a40-fsdp-7b"})
        for (const sim::BillRow& row :
             sim::bill_rows(sim::bill_of_plan(scenarios::read_scenario(plan)))) {
            EXPECT_TRUE(knows("bill", row.part.words)) << row.part.words;
            EXPECT_TRUE(row.part.freed.empty() || knows("bill", row.part.freed)) << row.part.freed;
        }
    for (const sim::CostTerm& term : sim::kCostTerms)
        EXPECT_TRUE(knows("formula", term.formula)) << term.name;
    for (std::size_t i = 0; i < kMemoryClasses; ++i)
        EXPECT_TRUE(knows("classes", name_of(static_cast<MemoryClass>(i)))) << i;
    for (std::size_t i = 0; i < sim::kRunTimes; ++i)
        EXPECT_TRUE(knows("whole run", words_of(static_cast<sim::RunTime>(i)))) << i;
}

}  // namespace
}  // namespace debubble::gui
