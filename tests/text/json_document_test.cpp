#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "text/document_readers.h"

/// JSON as Python writes it, and files of some MB.
namespace debubble::text {
namespace {

TEST(JsonDocument, HasTheNumbersThatPythonWrites) {
    const NodePtr root = parse_json(
        R"({"limits": [0.0, Infinity, -Infinity,NaN], "word": "Infinity \" NaN", "n": 7})", "x");
    const auto& items = root->get("limits")->items;
    ASSERT_EQ(items.size(), 4U);
    EXPECT_EQ(items[1]->scalar, "Infinity");
    EXPECT_EQ(items[2]->scalar, "-Infinity");
    EXPECT_EQ(items[3]->scalar, "NaN");
    EXPECT_FALSE(items[1]->quoted);
    EXPECT_EQ(items[2]->place.column, 28);
    EXPECT_EQ(root->get("word")->scalar, "Infinity \" NaN");
    EXPECT_TRUE(root->get("word")->quoted);
    EXPECT_EQ(root->get("n")->scalar, "7");
}

TEST(JsonDocument, HasNoKeysWithoutQuotes) {
    try {
        parse_json(R"({NaN: 1})", "x");
        FAIL() << "a key without quotes was read";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(),
                    testing::HasSubstr("x:1:2: error: a key must be a quoted string"));
    }
    EXPECT_THROW(parse_json("[Infinit]", "x"), InputError);
    EXPECT_THROW(parse_json("[NaNs]", "x"), InputError);
}

/// A quantised network may list every module by name.
TEST(JsonDocument, MayBeOfSomeMegabytes) {
    std::string text = R"({"ignore": [)";
    for (int i = 0; i < 150'000; ++i)
        text += (i > 0 ? ", " : "") + std::string("\"model.layers.1.mlp.experts\"");
    const NodePtr root = parse_json(text + "]}", "x");
    EXPECT_EQ(root->get("ignore")->items.size(), 150'000U);
}

}  // namespace
}  // namespace debubble::text
