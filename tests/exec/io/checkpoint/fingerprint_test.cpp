#include "exec/io/checkpoint/piece_source.h"

#include <gtest/gtest.h>

namespace debubble::exec {
namespace {

PieceSource source_of(const std::string& name, const std::string& bytes,
                      const std::optional<std::string>& sha256 = {}) {
    const Dimensions shape{static_cast<std::int64_t>(bytes.size())};
    PieceSource source;
    source.name = "of the folder " + name;
    source.tensors[{"parameter", name}] = {
        shape, {{whole(shape), StoredType::U8, bytes, sha256, name, name + ".safetensors"}}};
    return source;
}

TEST(TheFingerprintOfWeights, IsOfNamesAndContent) {
    const std::string bytes(5000, 'a');
    std::string other = bytes;
    other[4321] = 'b';
    EXPECT_EQ(fingerprint(source_of("w", bytes)), fingerprint(source_of("w", bytes)));
    EXPECT_NE(fingerprint(source_of("w", bytes)), fingerprint(source_of("w", other)));
    EXPECT_NE(fingerprint(source_of("w", bytes)), fingerprint(source_of("v", bytes)));
    EXPECT_NE(fingerprint(source_of("w", bytes)), fingerprint(source_of("w", bytes + "a")));
}

TEST(TheFingerprintOfWeights, TakesAChecksumForTheBytes) {
    EXPECT_NE(fingerprint(source_of("w", "abc", "1234")),
              fingerprint(source_of("w", "abc", "123")));
    EXPECT_EQ(fingerprint(source_of("w", "abc", "1234")),
              fingerprint(source_of("w", "abd", "1234")));
}

TEST(TheFingerprintOfWeights, SeesTheFirstAndTheLastByteOfALargeTensor) {
    const std::string bytes(10 << 20, 'a');
    for (const std::size_t place : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
        std::string other = bytes;
        // Blocks of 4 KiB lie at distances of 41 KiB.
        std::fill_n(other.begin() + static_cast<std::ptrdiff_t>(place),
                    std::min<std::size_t>(41 << 10, bytes.size() - place), 'b');
        EXPECT_NE(fingerprint(source_of("w", bytes)), fingerprint(source_of("w", other)));
    }
}

TEST(TheFingerprintOfWeights, LooksAtFewPlacesOfEachTensorWhereThereAreMany) {
    constexpr int kTensors = 1024;
    constexpr std::size_t kSize = 2 << 20;
    constexpr std::size_t kBlock = 4096;
    const std::string zeros(kSize, '\0');
    std::string middle = zeros, ends = zeros;
    std::fill(middle.begin() + kBlock, middle.end() - kBlock, 'x');
    ends.back() = 'x';
    const auto of_many = [&](const std::string& bytes) {
        PieceSource source;
        for (int i = 0; i < kTensors; ++i) {
            PieceSource one = source_of("w" + std::to_string(i), "");
            one.tensors.begin()->second.pieces.front().data = bytes;
            source.tensors.merge(one.tensors);
        }
        return fingerprint(source);
    };
    EXPECT_EQ(of_many(middle), of_many(zeros)) << "two blocks of each are looked at";
    EXPECT_NE(of_many(ends), of_many(zeros));
}

}  // namespace
}  // namespace debubble::exec
