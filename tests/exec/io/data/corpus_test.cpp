#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>

#include "base/file.h"
#include "exec/io/data/training_data.h"
#include "tests/exec/support/data_files.h"

namespace debubble::exec {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

std::vector<std::int32_t> tokens_of(const TokenFile& file) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < file.size(); ++i)
        tokens.push_back(static_cast<std::int32_t>(file[i]));
    return tokens;
}

std::string text_of(const Corpus& corpus) {
    const auto tokenizer = byte_tokenizer();
    return tokenizer->decode(tokens_of(*open_corpus(corpus, *tokenizer)));
}

TEST(ByteTokenizer, TurnsEveryByteIntoItselfAndBack) {
    const auto tokenizer = byte_tokenizer();
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    const std::vector<std::int32_t> tokens = tokenizer->encode(all);
    for (int byte = 0; byte < 256; ++byte) EXPECT_EQ(tokens[byte], byte);
    EXPECT_EQ(tokenizer->decode(tokens), all);
    EXPECT_THAT(tokenizer->encode("a<|endoftext|>b<|endof"),
                ElementsAre('a', 256, 'b', '<', '|', 'e', 'n', 'd', 'o', 'f'));
    EXPECT_EQ(tokenizer->decode(std::vector{'a', 256}), "a<|endoftext|>");
    const std::string longer(200'000, 'x');
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(longer)), longer);
}

TEST(Corpus, ATextIsItsBytes) {
    const Folder folder;
    EXPECT_EQ(text_of({CorpusKind::Text, folder.with("a.txt", "ab\r\n\xff")}), "ab\r\n\xff");
}

TEST(Corpus, JsonLinesAreDocumentsEachEnded) {
    const Folder folder;
    const auto path = folder.with("a.jsonl",
                                  "{\"text\": \"one\"}\r\n\n"
                                  "{\"text\": \"zw\\u00f6lf\\n\", \"url\": [1, {}]}\n"
                                  "{\"text\": \"\"}");
    EXPECT_EQ(text_of({CorpusKind::JsonLines, path}),
              "one<|endoftext|>zw\u00f6lf\n<|endoftext|><|endoftext|>");
}

TEST(Corpus, JsonLinesAreEndedByTheTokenThatIsAskedFor) {
    const Folder folder;
    Corpus corpus{CorpusKind::JsonLines,
                  folder.with("a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n")};
    EXPECT_EQ(text_of(corpus), "one<|endoftext|>two<|endoftext|>");
    corpus.end_of_text = 'X';
    EXPECT_EQ(text_of(corpus), "oneXtwoX");
    corpus.end_of_text.reset();
    EXPECT_EQ(text_of(corpus), "one<|endoftext|>two<|endoftext|>");
    EXPECT_EQ(folder.names().size(), 3u) << "the tokens of both are kept, under two names";
    corpus.end_of_text = 70'000;  // beyond a tokenizer whose tokens take 16 bits
    EXPECT_THAT(tokens_of(*open_corpus(corpus, *byte_tokenizer())),
                ElementsAre('o', 'n', 'e', 70'000, 't', 'w', 'o', 70'000));
}

TEST(Corpus, ATextIsNotEndedByTheTokenBetweenDocuments) {
    const Folder folder;
    Corpus corpus{CorpusKind::Text, folder.with("a.txt", "one")};
    EXPECT_EQ(text_of(corpus), "one");
    corpus.end_of_text = 'X';
    EXPECT_EQ(text_of(corpus), "one");
    EXPECT_EQ(folder.names().size(), 2u) << "one cache serves both";
}

TEST(Corpus, RefusesALineThatIsNoDocument) {
    const Folder folder;
    const auto refusal = [&](const std::string& line) {
        const auto path = folder.with("a.jsonl", "{\"text\": \"one\"}\n" + line + "\n");
        return sentence_of<InputError>([&] { text_of({CorpusKind::JsonLines, path}); });
    };
    for (const char* line : {"[]", "3", "{\"test\": \"one\"}", "{\"text\": 3}", "null"})
        EXPECT_THAT(refusal(line), HasSubstr("a.jsonl:2:1: error: a line must be {\"text\": "
                                             "\"...\"}\n  " +
                                             std::string(line) + "\n  ^\n"));
    EXPECT_THAT(refusal("{\"text\": \"on"),
                HasSubstr("a.jsonl:2:13: error: the line is not JSON; it must be"));
    EXPECT_THAT(refusal("{\"text\": \"\xff\"}"), HasSubstr("a.jsonl:2:11: error: "));
    EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("a.jsonl:2:100001: error: "));
    EXPECT_THAT(folder.names(), ElementsAre("a.jsonl")) << "no tokens of a bad corpus are kept";
}

TEST(Corpus, IsTokenisedOnce) {
    const Folder folder;
    const Corpus corpus{CorpusKind::Text, folder.with("a.txt", "one")};
    text_of(corpus);
    ASSERT_EQ(folder.names().size(), 2u);
    const auto kept = folder / folder.names()[1];
    EXPECT_THAT(kept.string(), EndsWith(".tokens.bin"));
    const auto made = fs::last_write_time(kept) - std::chrono::hours(1);
    fs::last_write_time(kept, made);
    text_of(corpus);
    EXPECT_EQ(fs::last_write_time(kept), made) << "it was made again";
}

TEST(Corpus, IsTokenisedAgainWhenItChanges) {
    const Folder folder;
    const Corpus corpus{CorpusKind::Text, folder.with("a.txt", "one")};
    text_of(corpus);
    folder.with("a.txt", "three");
    EXPECT_EQ(text_of(corpus), "three");
    folder.with("a.txt", "seven");  // of the same length
    fs::last_write_time(corpus.path, fs::last_write_time(corpus.path) + std::chrono::seconds(1));
    EXPECT_EQ(text_of(corpus), "seven");
    EXPECT_EQ(folder.names().size(), 2u);
}

TEST(Corpus, IsTokenisedAgainWhenItsTokensAreDamaged) {
    const Folder folder;
    const Corpus corpus{CorpusKind::Text, folder.with("a.txt", "one")};
    text_of(corpus);
    const auto kept = folder / folder.names()[1];
    const std::string good = read_file(kept);
    for (std::size_t i = 0; i < good.size(); i += i < 40 || i > 1000 ? 1 : 97) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 0x20);
        write_file(kept, bad);
        EXPECT_EQ(text_of(corpus), "one") << "byte " << i << " was flipped";
    }
    for (const std::size_t length : {std::size_t{0}, std::size_t{100}, good.size() - 2}) {
        write_file(kept, good.substr(0, length));
        EXPECT_EQ(text_of(corpus), "one");
    }
    EXPECT_EQ(read_file(kept), good);
}

TEST(Corpus, KeepsItsTokensWhereItIsTold) {
    const Folder folder;
    const auto text = folder.with("a.txt", "one");
    EXPECT_EQ(text_of({CorpusKind::Text, text, folder / "kept"}), "one");
    EXPECT_THAT(folder.names(), ElementsAre("a.txt", "kept"));
    EXPECT_THAT(sentence_of<WorldError>([&] {
                    text_of({CorpusKind::Text, text, "/proc/here"});
                }),
                HasSubstr("/proc/here"));
}

TEST(Corpus, MayBeOpenedByAllRanksAtOnce) {
    const Folder folder;
    const Corpus corpus{CorpusKind::Text, folder.with("a.txt", std::string(100'000, 'a'))};
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 8; ++rank)
        ranks.emplace_back([&] { EXPECT_EQ(text_of(corpus).size(), 100'000u); });
    ranks.clear();
    EXPECT_EQ(folder.names().size(), 2u);
}

TEST(Corpus, RefusesAFileThatIsNotThere) {
    const Folder folder;
    EXPECT_THAT(sentence_of<InputError>([&] {
                    text_of({CorpusKind::Text, folder / "none.txt"});
                }),
                EndsWith("none.txt: error: no such file\n"));
}

/// Bytes of a file that is emptied before they are read.
class EmptiedBytes : public Tokenizer {
public:
    explicit EmptiedBytes(fs::path path) : path_(std::move(path)) {}
    std::int64_t vocab() const override { return bytes_->vocab(); }
    std::optional<std::int32_t> end_of_text() const override { return bytes_->end_of_text(); }
    void encode(std::string_view text, const TokenSink& sink) const override {
        fs::resize_file(path_, 0);
        bytes_->encode(text, sink);
    }
    std::string decode(std::span<const std::int32_t> tokens) const override {
        return bytes_->decode(tokens);
    }
    std::string identity() const override { return "emptied bytes"; }
    std::string name() const override { return "emptied bytes"; }

private:
    fs::path path_;
    std::unique_ptr<Tokenizer> bytes_ = byte_tokenizer();
};

TEST(Corpus, ThatIsCutWhileItIsTokenisedIsSaidAndNotKept) {
    const std::string document = R"({"text": "one"})";
    for (const auto& [kind, text] :
         {std::pair(CorpusKind::Text, std::string(100'000, 'x')),
          std::pair(CorpusKind::JsonLines, document + "\n" + document)}) {
        const Folder folder;
        const auto path = folder.with("corpus", text);
        EXPECT_THAT(sentence_of<FileCut>([&] {
                        open_corpus({kind, path}, EmptiedBytes(path));
                    }),
                    HasSubstr("corpus: was cut to 0 bytes while it was read; it had "));
        EXPECT_THAT(folder.names(), ElementsAre("corpus"));
    }
}

}  // namespace
}  // namespace debubble::exec
