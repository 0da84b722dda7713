#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "exec/io/data/data_set.h"
#include "exec/io/data/tokens/token_file.h"
#include "tests/exec/support/data_files.h"

namespace debubble::exec {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

std::vector<std::uint32_t> unsigned_tokens(const TokenFile& file) {
    std::vector<std::uint32_t> tokens;
    for (std::int64_t i = 0; i < file.size(); ++i) tokens.push_back(file[i]);
    return tokens;
}

/// The words of llm.c's header, then bytes.
std::string file_of(std::uint32_t magic, std::uint32_t version, std::uint32_t tokens,
                    const std::string& rest) {
    std::array<std::uint32_t, 256> header{magic, version, tokens};
    return std::string(reinterpret_cast<const char*>(header.data()), 1024) + rest;
}

TEST(TokenFile, ReadsWhatLlmCWrites) {
    const Folder folder;
    const TokenFile gpt2(folder.with("gpt2.bin", file_of(20240520, 1, 3, {"\1\0\377\377\0\1", 6})));
    EXPECT_THAT(unsigned_tokens(gpt2), ElementsAre(1, 65535, 256));
    const TokenFile llama(
        folder.with("llama.bin", file_of(20240801, 7, 2, {"\0\364\1\0\1\0\0\0", 8})));
    EXPECT_THAT(unsigned_tokens(llama), ElementsAre(128000, 1));
}

TEST(TokenFile, WritesWhatItReads) {
    const Folder folder;
    const TokenFile narrow(write_tokens(folder, "narrow.bin", {0, 65535, 7}));
    EXPECT_THAT(unsigned_tokens(narrow), ElementsAre(0, 65535, 7));
    const TokenFile wide(write_tokens(folder, "wide.bin", {0, 65536, 7}, TokenWidth::Bits32));
    EXPECT_THAT(unsigned_tokens(wide), ElementsAre(0, 65536, 7));
    EXPECT_EQ(read_file(folder / "narrow.bin"),
              file_of(20240520, 1, 3, {"\0\0\377\377\7\0", 6}));  // no word more than llm.c's
    EXPECT_EQ(folder.names().size(), 2u) << "nothing was left aside";
}

TEST(TokenFile, FindsWhatIsBeyondAVocabulary) {
    const Folder folder;
    std::vector<std::int32_t> tokens(10'000, 3);
    tokens[9'000] = 50;
    const TokenFile file(write_tokens(folder, "a.bin", tokens));
    EXPECT_EQ(file.first_beyond(50, 0, 10'000), 9'000);
    EXPECT_EQ(file.first_beyond(51, 0, 10'000), 10'000);
    EXPECT_EQ(file.first_beyond(50, 0, 9'000), 9'000);
    EXPECT_THAT(file.find(50), ElementsAre(9'000));
}

TEST(TokenFile, KnowsWhetherItIsAsItWasWritten) {
    const Folder folder;
    const std::string origin(64, 'a');
    write_token_file(folder / "a.bin", TokenWidth::Bits16, origin, [](const TokenSink& sink) {
        sink(std::vector{1, 2});
        sink(std::vector{3});
    });
    EXPECT_EQ(TokenFile(folder / "a.bin").origin(), origin);
    EXPECT_TRUE(TokenFile(folder / "a.bin").is_intact());
    std::string bytes = read_file(folder / "a.bin");
    bytes.back() ^= 1;
    EXPECT_FALSE(TokenFile(folder.with("b.bin", bytes)).is_intact());
}

TEST(TokenFile, RefusesEveryDisagreement) {
    const Folder folder;
    const auto refusal = [&](const std::string& content) {
        const auto path = folder.with("bad.bin", content);
        return sentence_of<InputError>([&] { TokenFile file(path); });
    };
    EXPECT_THAT(refusal(""), EndsWith("bad.bin: error: 0 bytes are too few for the header of a "
                                      "token file, which has 1024\n"));
    EXPECT_THAT(refusal(file_of(20240521, 1, 0, "")),
                EndsWith("not a token file of llm.c: it begins with 20240521, not with 20240520 "
                         "(uint16) or 20240801 (uint32)\n"));
    EXPECT_THAT(refusal(file_of(20240520, 7, 0, "")),
                EndsWith("version 7 of a token file that begins with 20240520 is not known; the "
                         "known version is 1\n"));
    EXPECT_THAT(refusal(file_of(20240520, 1, 3, "1234")),
                EndsWith("the header promises 3 tokens of 2 bytes, but 4 bytes follow it\n"));
    EXPECT_THAT(refusal(file_of(20240520, 1, 2, "12345")),
                EndsWith("the header promises 2 tokens of 2 bytes, but 5 bytes follow it\n"));
    EXPECT_THAT(sentence_of<InputError>([&] { TokenFile file(folder / "none"); }),
                EndsWith("none: error: no such file\n"));
    EXPECT_THAT(sentence_of<InputError>([&] { TokenFile file("/"); }),
                EndsWith("not a regular file\n"));
}

/// One page is the last that is there in part; after it no page is there at all.
TEST(TokenFile, ThatIsCutWhileItIsReadIsSaid) {
    for (const std::int64_t left : {1024 + 2 * 90'000 + 6, 1024 + 2 * 150'000, 0}) {
        const Folder folder;
        const auto path = write_tokens(folder, "a.bin", std::vector<std::int32_t>(200'000, 7));
        const auto file = std::make_shared<const TokenFile>(path);
        const auto samples = packed_tokens(file, {.seq_length = 1000, .vocab = 8});
        Batch row = samples->batch_of(1);
        EXPECT_EQ(samples->read(180, 0, row), 1000);
        std::filesystem::resize_file(path, static_cast<std::uintmax_t>(left));
        const std::string said = sentence_of<FileCut>([&] { samples->read(180, 0, row); });
        EXPECT_EQ(said, fmt::format("{}: was cut to {} bytes while it was read; it had 401024",
                                    path.string(), left));
        EXPECT_THROW(file->find(7), FileCut);
        EXPECT_THROW(static_cast<void>(file->is_intact()), FileCut);
    }
}

}  // namespace
}  // namespace debubble::exec
