#include "exec/io/data/data_set.h"

#include <memory>

#include <gtest/gtest.h>

#include "exec/io/data/training_data.h"
#include "tests/exec/support/data_files.h"

namespace debubble::exec {
namespace {

TokenRules rules_of(std::int64_t seq_length) {
    TokenRules rules;
    rules.seq_length = seq_length;
    rules.vocab = 257;
    return rules;
}

std::string of_text(const Folder& folder, const std::string& text, std::int64_t seq_length = 4) {
    static int files = 0;
    const auto path = folder.with("text" + std::to_string(files++), text);
    const auto tokenizer = byte_tokenizer();
    const auto file = open_corpus({CorpusKind::Text, path}, *tokenizer);
    return fingerprint(*packed_tokens(file, rules_of(seq_length)));
}

TEST(TheFingerprintOfData, IsOfItsContentWhereverAndHoweverItLies) {
    const Folder folder, elsewhere;
    const std::string text = "one two three four";
    EXPECT_EQ(of_text(folder, text), of_text(elsewhere, text));
    const std::vector<std::int32_t> tokens(text.begin(), text.end());
    const auto file = std::make_shared<const TokenFile>(write_tokens(folder, "a.bin", tokens));
    EXPECT_EQ(fingerprint(*packed_tokens(file, rules_of(4))), of_text(folder, text));
}

TEST(TheFingerprintOfData, ChangesWithEveryByteThatIsTrainedOn) {
    const Folder folder;
    const std::string text = "one two three four.";
    const std::string whole = of_text(folder, text);
    for (std::size_t i = 0; i + 3 < text.size(); ++i) {
        std::string other = text;
        other[i] ^= 1;
        EXPECT_NE(of_text(folder, other), whole) << "byte " << i;
    }
    EXPECT_NE(of_text(folder, text + text), whole);
    EXPECT_NE(of_text(folder, text, 2), whole);
}

constexpr std::int64_t kMebibyte = 1 << 20;

/// Sample i is the number i, and takes the given number of bytes, up to a mebibyte: with larger
/// ones only a part of the samples counts.
class Numbers final : public DataSet {
public:
    explicit Numbers(std::int64_t samples, std::int64_t bytes = kMebibyte, bool many_files = false)
        : samples_(samples), bytes_(bytes), many_files_(many_files) {}
    bool is_of_many_files() const override { return many_files_; }
    std::int64_t samples() const override { return samples_; }
    Batch batch_of(std::int64_t samples) const override {
        return {Tensor({samples, bytes_ / 4}), Tensor({samples}, DataType::Int32)};
    }
    std::int64_t read(std::int64_t sample, std::int64_t row, Batch& batch) const override {
        read_.push_back(sample);
        batch.targets.as<std::int32_t>()[row] = static_cast<std::int32_t>(sample);
        return 1;
    }
    void read_nothing(std::int64_t, Batch&) const override {}
    std::int64_t counted(std::int64_t) const override { return 1; }
    const std::vector<std::int64_t>& seen() const { return read_; }

private:
    std::int64_t samples_, bytes_;
    bool many_files_;
    mutable std::vector<std::int64_t> read_;
};

TEST(TheFingerprintOfData, LooksAtAllOfALittleAndAtSamplesFromFirstToLastOfMuch) {
    for (const std::int64_t samples : {1, 2, 63, 64, 65, 1000, 1'000'003}) {
        const Numbers numbers(samples);
        fingerprint(numbers);
        const auto& seen = numbers.seen();
        EXPECT_EQ(std::ssize(seen), std::min<std::int64_t>(samples, 63)) << samples;
        EXPECT_EQ(seen.front(), 0);
        EXPECT_EQ(seen.back(), samples - 1);
        EXPECT_TRUE(std::ranges::is_sorted(seen));
        EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end()) << "each is seen once";
    }
}

TEST(TheFingerprintOfData, LooksAtFewOfManySamplesThatAreFarFromEachOther) {
    constexpr std::int64_t kBytes = 124, kFit = 64 * kMebibyte / 128, kMost = 2048;
    const auto looks = [](const Numbers& numbers) {
        fingerprint(numbers);
        EXPECT_EQ(numbers.seen().back(), numbers.samples() - 1);
        return std::ssize(numbers.seen());
    };
    EXPECT_EQ(looks(Numbers(kFit, kBytes)), kFit) << "all are read, one after the other";
    EXPECT_EQ(looks(Numbers(kFit + 1, kBytes)), kMost);
    EXPECT_EQ(looks(Numbers(50'000, kBytes, true)), kMost);
    EXPECT_EQ(looks(Numbers(kMost, kBytes, true)), kMost);
}

}  // namespace
}  // namespace debubble::exec
