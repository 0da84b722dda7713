#include <fmt/format.h>
#include <gtest/gtest.h>

#include "text/document_readers.h"

namespace debubble::models {
namespace {

std::string text_of(const text::Node& node) {
    std::string out;
    switch (node.kind) {
        case text::Node::Kind::Null: return "null";
        case text::Node::Kind::Scalar: return node.scalar;
        case text::Node::Kind::List:
            for (const text::NodePtr& item : node.items) out += text_of(*item) + " ";
            return "[ " + out + "]";
        case text::Node::Kind::Map:
            for (const auto& entry : node.entries)
                out += entry.key + "=" + text_of(*entry.value) + " ";
            return "{ " + out + "}";
    }
    return out;
}

std::string yaml(const std::string& text) {
    return text_of(*text::parse_yaml(text, "f.yaml"));
}

std::string mistakes_of(text::NodePtr (*parse)(std::string, const std::string&), std::string text) {
    try {
        parse(std::move(text), "f");
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(Yaml, ReadsAnchorsAliasesAndMergeKeys) {
    EXPECT_EQ(yaml("a: &x {p: 1, q: 2}\nb: *x\n"), "{ a={ p=1 q=2 } b={ p=1 q=2 } }");
    EXPECT_EQ(yaml("a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\n"), "{ a={ p=1 q=2 } b={ q=3 p=1 } }");
    EXPECT_EQ(yaml("a: &x {p: 1}\nb: &y {p: 2, q: 3}\nc: {<<: [*x, *y]}\n"),
              "{ a={ p=1 } b={ p=2 q=3 } c={ p=1 q=3 } }");
    EXPECT_EQ(yaml(""), "null");
    EXPECT_EQ(yaml("a: ~\nb: 'null'\nc:\n"), "{ a=null b=null c=null }");
}

TEST(Yaml, RemembersWhereEachValueStands) {
    const text::NodePtr root = text::parse_yaml("a: 1\nb:\n  c: [x, yy]\n", "f.yaml");
    const text::Node& item = *root->get("b")->get("c")->items[1];
    EXPECT_EQ(item.place.line, 3);
    EXPECT_EQ(item.place.column, 10);
    EXPECT_EQ(root->find("b")->place.line, 2);
}

TEST(Yaml, RefusesWithThePlace) {
    EXPECT_EQ(mistakes_of(text::parse_yaml, "a: 1\nb: 2\na: 3\n"),
              "f:3:1: error: key 'a' is written twice, first in line 1\n  a: 3\n  ^\n");
    EXPECT_EQ(mistakes_of(text::parse_yaml, "a: [1\nb: 2\n"),
              "f:2:2: error: YAML: end of sequence flow not found\n  b: 2\n   ^\n");
    EXPECT_EQ(mistakes_of(text::parse_yaml, std::string("a: 1\nb\0: 2\n", 11)),
              "f:2:2: error: a control character (0x00)\n  b : 2\n   ^\n");
    EXPECT_EQ(mistakes_of(text::parse_yaml, "a: \xff\n"),
              "f:1:4: error: not UTF-8 (byte 0xff)\n  a: \xff\n     ^\n");
    EXPECT_EQ(mistakes_of(text::parse_yaml, "[a]: 1\n"),
              "f:1:1: error: a key must be a word, not a list\n  [a]: 1\n  ^\n");
    EXPECT_EQ(
        mistakes_of(text::parse_yaml, "a: &x [*x]\n"),
        "f:1:8: error: this alias is inside the value that it names\n  a: &x [*x]\n         ^\n");
    EXPECT_EQ(
        mistakes_of(text::parse_yaml, "a: 1\n---\nb: 2\n"),
        "f:2:1: error: a second document begins here; a file may hold only one\n  ---\n  ^\n");
}

TEST(Yaml, BoundsWhatAliasesBlowUpTo) {
    std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        laughs += fmt::format("a{0}: &a{0} [", i);
        for (int k = 0; k < 10; ++k) laughs += fmt::format("{}*a{}", k ? ", " : "", i - 1);
        laughs += "]\n";
    }
    EXPECT_NE(mistakes_of(text::parse_yaml, laughs).find("aliases expand the text"),
              std::string::npos);
}

TEST(Yaml, BoundsDepthAndLength) {
    EXPECT_NE(
        mistakes_of(text::parse_yaml, std::string(70, '[') + std::string(70, ']')).find("deeper"),
        std::string::npos);
    EXPECT_NE(mistakes_of(text::parse_yaml, std::string(100'000, '[')).find("deeper"),
              std::string::npos);
    EXPECT_NE(mistakes_of(text::parse_yaml, std::string(2 << 20, '#')).find("too long"),
              std::string::npos);
    EXPECT_NE(mistakes_of(text::parse_json, std::string(100'000, '[')).find("deeper"),
              std::string::npos);
}

TEST(Json, GivesTheSameTreeWithPlaces) {
    const text::NodePtr root = text::parse_json(
        "{\"a\": 1, \"b\": [true, null, 2.50],\n  \"c\\u0041\": {\"d\": \"x\"}}", "f");
    EXPECT_EQ(text_of(*root), "{ a=1 b=[ true null 2.50 ] cA={ d=x } }");
    EXPECT_EQ(root->find("a")->place.column, 2);
    EXPECT_EQ(root->get("b")->items[2]->place.column, 28);
    EXPECT_EQ(root->find("cA")->place.line, 2);
    EXPECT_EQ(root->get("cA")->get("d")->place.column, 20);
}

TEST(Json, RefusesWithThePlace) {
    EXPECT_EQ(mistakes_of(text::parse_json, "{\"a\": 1,\n \"a\": 2}"),
              "f:2:2: error: key 'a' is written twice\n   \"a\": 2}\n   ^\n");
    EXPECT_NE(mistakes_of(text::parse_json, "{\"a\": 1,\n \"b\" 2}").find("f:2:6: error: JSON: "),
              std::string::npos)
        << mistakes_of(text::parse_json, "{\"a\": 1,\n \"b\" 2}");
    EXPECT_NE(mistakes_of(text::parse_json, "{").find("f:1:"), std::string::npos);
    EXPECT_NE(mistakes_of(text::parse_json, "").find("f:1:1"), std::string::npos);
}

TEST(Overrides, ChangeOneValueAndShareTheRest) {
    const text::NodePtr root =
        text::parse_yaml("schedule: 1f1b\nparallel: {tensor: 2}\nlist: [1]\n", "f");
    const text::SourcePosition place{
        std::make_shared<text::SourceText>(text::SourceText{"--set", "x"}), 1, 1};
    const auto set = [&](const char* path, const char* value) {
        return with_value(root, path, text::make_scalar(value, place), place);
    };
    EXPECT_EQ(text_of(*set("parallel.tensor", "8")),
              "{ schedule=1f1b parallel={ tensor=8 } list=[ 1 ] }");
    EXPECT_EQ(text_of(*set("training.optimizer.lr", "1e-3")),
              "{ schedule=1f1b parallel={ tensor=2 } list=[ 1 ] training={ optimizer={ lr=1e-3 } } "
              "}");
    EXPECT_EQ(text_of(*set("schedule.slices", "2")->get("schedule")), "{ name=1f1b slices=2 }");
    EXPECT_EQ(set("parallel.tensor", "8")->get("list"), root->get("list"));
    EXPECT_THROW(set("list.a", "8"), InputError);
    EXPECT_THROW(set("", "8"), InputError);
    EXPECT_THROW(set("a..b", "8"), InputError);
    EXPECT_THROW(set("a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", "8"), InputError);
}

}  // namespace
}  // namespace debubble::models
