#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "exec/io/data/tokens/bpe.h"
#include "exec/io/data/tokens/pattern.h"
#include "exec/io/data/tokens/tokenizer.h"
#include "tests/exec/support/data_files.h"
#include "tests/support/source_folder.h"

namespace debubble::exec {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using Json = nlohmann::json;

const fs::path kTokenizers = source_folder() / "tests/exec/goldens/tokenizers";

Json description(const std::string& name) {
    return Json::parse(read_file(kTokenizers / name / "tokenizer.json"));
}

std::unique_ptr<Tokenizer> tokenizer_of(const Json& description) {
    return bpe_tokenizer(read_tokenizer_json(description.dump(), "tokenizer.json"));
}

void expect_goldens(const Tokenizer& tokenizer, const std::string& name) {
    const Json cases = Json::parse(read_file(kTokenizers / "cases.json"));
    ASSERT_GT(cases.size(), 150u);
    for (const Json& golden : cases) {
        const auto text = golden["text"].get<std::string>();
        EXPECT_EQ(tokenizer.encode(text), golden[name].get<std::vector<std::int32_t>>())
            << golden["text"];
        if (name == "prefixed") continue;
        EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
    }
}

TEST(Bpe, EncodesAsHuggingFaceDoesFromATokenizerJson) {
    const auto tokenizer = make_tokenizer(kTokenizers / "gpt2" / "tokenizer.json");
    expect_goldens(*tokenizer, "gpt2");
    EXPECT_EQ(tokenizer->end_of_text(), 0);
}

TEST(Bpe, EncodesAsHuggingFaceDoesFromVocabAndMerges) {
    expect_goldens(*make_tokenizer(kTokenizers / "gpt2" / "vocab.json"), "gpt2");
}

TEST(Bpe, EncodesAsHuggingFaceDoesWithLlama3sExpression) {
    expect_goldens(*make_tokenizer(kTokenizers / "llama3"), "llama3");
}

TEST(Bpe, EncodesAsHuggingFaceDoesWithAPrefixSpace) {
    Json prefixed = description("gpt2");
    prefixed["pre_tokenizer"]["add_prefix_space"] = true;
    expect_goldens(*tokenizer_of(prefixed), "prefixed");
}

TEST(Bpe, ReadsMergesAsTextAndAsPairs) {
    Json other = description("gpt2");
    for (Json& merge : other["model"]["merges"]) {
        ASSERT_TRUE(merge.is_array());
        merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
    }
    expect_goldens(*tokenizer_of(other), "gpt2");
}

TEST(Bpe, GivesBackAnyBytes) {
    const auto tokenizer = make_tokenizer(kTokenizers / "gpt2");
    std::mt19937 random(1);
    for (const std::size_t length : {1, 2, 3, 10, 1000, 20'000}) {
        std::string bytes(length, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        EXPECT_EQ(tokenizer->decode(tokenizer->encode(bytes)), bytes);
    }
    EXPECT_EQ(tokenizer->decode(std::vector{-1, 1 << 30}), "");
}

std::vector<std::int32_t> encode_apart(const Tokenizer& tokenizer,
                                       const std::vector<std::string>& parts) {
    std::vector<std::int32_t> all;
    for (const std::string& part : parts)
        for (const std::int32_t token : tokenizer.encode(part)) all.push_back(token);
    return all;
}

/// Text is searched in windows: where they lie must not show.
TEST(Bpe, ALongTextIsItsWordsWhereverTheyLie) {
    const auto tokenizer = make_tokenizer(kTokenizers / "gpt2");
    const std::string line = "don't  you \u00fcber 12";
    const std::string spaces(9000, ' ');
    for (std::size_t lead = 4050; lead < 4110; ++lead) {
        const std::string before = std::string(lead - 1, 'a') + "\n";
        EXPECT_EQ(tokenizer->encode(before + line), encode_apart(*tokenizer, {before, line}))
            << lead;
        // The last of several spaces in a row belongs to the word after them.
        EXPECT_EQ(tokenizer->encode("x" + spaces + before),
                  encode_apart(*tokenizer, {"x", spaces.substr(1), " " + before}))
            << lead;
    }
}

TEST(Bpe, ALongWordTakesNoLongerThanItsLength) {
    const auto tokenizer = make_tokenizer(kTokenizers / "gpt2");
    const std::string word(2'000'000, 'e');  // would take hours, were it quadratic
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(word)), word);
}

TEST(Bpe, RefusesWhatItWouldEncodeWrongly) {
    const auto refusal = [](const auto& change) {
        Json changed = description("gpt2");
        change(changed);
        return sentence_of<InputError>([&] { tokenizer_of(changed)->encode("abc"); });
    };
    EXPECT_EQ(refusal([](Json&) {}), "");
    EXPECT_THAT(refusal([](Json& t) {
                    t["normalizer"] = {{"type", "NFC"}};
                }),
                EndsWith("tokenizer.json: error: its normalizer \"NFC\" is not supported\n"));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["type"] = "WordPiece"; }),
                EndsWith("its model is \"WordPiece\"; only \"BPE\" is supported\n"));
    EXPECT_THAT(refusal([](Json& t) {
                    t["pre_tokenizer"] = {{"type", "Metaspace"}};
                }),
                HasSubstr("its pre_tokenizer is 'Metaspace'; only 'ByteLevel' and"));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["dropout"] = 0.1; }),
                EndsWith("'dropout' is 0.1, which is not supported\n"));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["byte_fallback"] = true; }),
                EndsWith("'byte_fallback' is not supported\n"));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["end_of_word_suffix"] = "</w>"; }),
                EndsWith("'end_of_word_suffix' is \"</w>\", which is not supported\n"));
    EXPECT_THAT(refusal([](Json& t) { t["added_tokens"][0]["lstrip"] = true; }),
                EndsWith("'<|endoftext|>' has 'lstrip', which is not supported\n"));
    EXPECT_THAT(refusal([](Json& t) { t["added_tokens"][0]["id"] = 3; }),
                EndsWith("the added token '<|endoftext|>' is 3 and, in the vocabulary, 0\n"));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["vocab"]["zzz"] = 3; }),
                EndsWith("'#' and 'zzz' are both token 3\n"));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["vocab"]["zzz"] = -3; }),
                EndsWith("the token 'zzz' must be a number from 0 to 2097151, not -3\n"));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["vocab"]["zzz"] = 1e9; }),
                HasSubstr("the token 'zzz' must be a number from 0 to 2097151"));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["merges"][0] = "he"; }),
                EndsWith("merge 1 must be two tokens, not 'he'\n"));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["merges"][0] = "q q"; }),
                EndsWith("merge 1 is of 'q' and 'q', but 'qq' is not in the vocabulary\n"));
    EXPECT_THAT(refusal([](Json& t) { t["model"].erase("merges"); }),
                HasSubstr("not a tokenizer of a known form: "));
    EXPECT_THAT(refusal([](Json& t) { t["model"]["vocab"].erase("c"); }),
                HasSubstr("but 'c' is not in the vocabulary\n"));
    EXPECT_THAT(refusal([](Json& t) {
                    t["model"]["vocab"].erase("c");
                    t["model"]["merges"] = Json::array();
                }),
                EndsWith("its vocabulary has no token for the byte 0x63\n"));
    EXPECT_THAT(refusal([](Json& t) { t = Json::array(); }),
                EndsWith("not a tokenizer: the JSON is not a map\n"));
}

TEST(Bpe, RefusesFilesThatAreNoTokenizers) {
    const Folder folder;
    const auto refusal = [](const fs::path& path) {
        return sentence_of<InputError>([&] { make_tokenizer(path); });
    };
    EXPECT_THAT(refusal(folder.with("a.json", "{\"model\":")),
                EndsWith("a.json: error: not JSON at byte 10\n"));
    EXPECT_THAT(refusal(folder.with("b.json", std::string(1'000'000, '['))),
                EndsWith("b.json: error: not JSON at byte 1000001\n"));
    EXPECT_THAT(refusal(folder / "none"), EndsWith("none: error: no such file\n"));
    fs::create_directory(folder / "empty");
    EXPECT_THAT(refusal(folder / "empty"),
                EndsWith("empty: error: the folder has no tokenizer.json and no vocab.json\n"));
    folder.with("vocab.json", "{\"a\": 0}");
    EXPECT_THAT(refusal(folder / "vocab.json"), EndsWith("merges.txt: error: no such file\n"));
    folder.with("merges.txt", "#version: 0.2\na b\n");
    EXPECT_THAT(refusal(folder / "vocab.json"),
                EndsWith("merges.txt: error: merge 1 is of 'a' and 'b', but 'b' is not in the "
                         "vocabulary\n"));
}

TEST(Pattern, RefusesWhatItCannotCarryOut) {
    const auto refusal = [](const std::string& expression) {
        return sentence_of<InputError>([&] {
            Pattern(expression, Pattern::Over::Characters, "t.json")
                .split(std::string(40, 'a') + "!", [](std::string_view, bool) {});
        });
    };
    EXPECT_THAT(refusal("(a"), HasSubstr("t.json: error: '(a' is not a regular expression: "));
    EXPECT_THAT(refusal("\\ba"), EndsWith("looks at the text before a match, which is not "
                                          "supported\n"));
    EXPECT_THAT(refusal("(?:a|a)*(?:a|a)*(?:a|a)*(?:a|a)*(?:a|a)*$"),
                HasSubstr("its regular expression fails on 'aaaa"));
}

TEST(Pattern, CutsATextIntoAllOfItself) {
    const Pattern pattern("a+|b", Pattern::Over::Characters, "t.json");
    std::vector<std::pair<std::string, bool>> pieces;
    pattern.split(
        "xaab\xff"
        "b",
        [&](std::string_view piece, bool matches) { pieces.emplace_back(piece, matches); });
    EXPECT_THAT(pieces,
                ElementsAre(std::pair("x", false), std::pair("aa", true), std::pair("b", true),
                            std::pair("\xff", false), std::pair("b", true)));
}

TEST(ByteAlphabet, HasASymbolForEveryByte) {
    EXPECT_EQ(symbol_of('a'), "a");
    EXPECT_EQ(symbol_of(' '), "\u0120");
    EXPECT_EQ(symbol_of('\n'), "\u010a");
    EXPECT_EQ(symbol_of(0xad), "\u0143");
    EXPECT_EQ(symbol_of(0xff), "\u00ff");
    for (int byte = 0; byte < 256; ++byte) {
        const std::string back{static_cast<char>(byte)};
        EXPECT_EQ(bytes_of(symbol_of(static_cast<unsigned char>(byte))), back);
    }
    for (const char* none : {" ", "\u0144", "\u65e5", "\xc4"}) EXPECT_FALSE(bytes_of(none)) << none;
}

}  // namespace
}  // namespace debubble::exec
