#include "text/csv_row.h"

#include <random>

#include <gtest/gtest.h>

namespace debubble::sim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows random_rows(unsigned seed) {
    constexpr std::string_view kLetters = "ab1,\"\n\r ";
    std::mt19937 random(seed);
    Rows rows(1 + random() % 4);
    for (auto& row : rows) {
        row.resize(1 + random() % 4);
        for (std::string& field : row)
            for (auto n = random() % 6; n > 0; --n) field += kLetters[random() % kLetters.size()];
    }
    return rows;
}

TEST(CsvRow, ReadsBackWhatItWrote) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        const Rows rows = random_rows(seed);
        std::string text;
        for (const auto& row : rows) text += text::write_csv_row(row);
        std::string_view rest = text;
        for (const auto& row : rows) EXPECT_EQ(text::take_csv_row(rest), row);
        EXPECT_TRUE(rest.empty());
    }
}

TEST(CsvRow, TakesNoRowThatWasTornAtAnyByte) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        const std::string text = text::write_csv_row(random_rows(seed).front());
        for (std::size_t cut = 0; cut < text.size(); ++cut) {
            const std::string torn = text.substr(0, cut);
            std::string_view rest = torn;
            EXPECT_EQ(text::take_csv_row(rest), std::nullopt) << torn;
            EXPECT_EQ(rest, torn);
        }
    }
}

TEST(CsvRow, IsTakenAsALineWithTheSameFields) {
    for (unsigned seed = 0; seed < 500; ++seed) {
        const Rows rows = random_rows(seed);
        std::string text;
        for (const auto& row : rows) text += text::write_csv_row(row);
        std::string_view rest = text;
        for (const auto& row : rows) {
            const auto line = text::take_csv_line(rest);
            ASSERT_EQ(line, text::write_csv_row(row));
            for (std::size_t count = 1; count <= row.size() + 1; ++count) {
                auto start = row;
                start.resize(std::min(count, row.size()));
                EXPECT_EQ(text::csv_fields_at_start(*line, count), start);
            }
        }
        EXPECT_TRUE(rest.empty());
        std::string_view torn = std::string_view(text).substr(0, text.size() - 1);
        for (std::size_t i = 0; i + 1 < rows.size(); ++i) text::take_csv_line(torn);
        EXPECT_EQ(text::take_csv_line(torn), std::nullopt);
    }
}

TEST(CsvRow, QuotesOnlyWhatNeedsIt) {
    EXPECT_EQ(text::write_csv_row({"1f1b", "", "{name: zb-h1, x: 2}", "a \"b\""}),
              "1f1b,,\"{name: zb-h1, x: 2}\",\"a \"\"b\"\"\"\n");
}

}  // namespace
}  // namespace debubble::sim
