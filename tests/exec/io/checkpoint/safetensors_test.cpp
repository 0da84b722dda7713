#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/io/checkpoint/safetensors.h"
#include "tests/exec/support/scratch_folder.h"

namespace debubble::exec {
namespace {

std::string file_of(const std::string& header, std::size_t data) {
    const std::uint64_t length = header.size();
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes + header + std::string(data, 'x');
}

std::string mistake_in(const std::string& bytes) {
    try {
        parse_safetensors(bytes, "w.safetensors");
    } catch (const InputError& error) {
        return error.diagnostics().front().message;
    }
    return "none";
}

std::string mistake_of(const std::string& header, std::size_t data) {
    return mistake_in(file_of(header, data));
}

TEST(Safetensors, WhatIsWrittenIsRead) {
    const ScratchFolder folder;
    const auto path = folder.path() / "w.safetensors";
    SafetensorsWriter writer(path, {{"b", StoredType::BF16, {3}}, {"a", StoredType::F32, {}}},
                             {{"format", "xx"}});
    writer.append("abcdef");
    EXPECT_FALSE(std::filesystem::exists(path));
    writer.append("1234");
    writer.finish({{"format", "pt"}}, path);
    const SafetensorsFile file = open_safetensors(path);
    EXPECT_EQ(file.header.bytes % 8, 0);
    EXPECT_EQ(file.header.metadata, (Metadata{{"format", "pt"}}));
    ASSERT_EQ(file.header.entries.size(), 2u);
    EXPECT_EQ(file.header.entries[0].name, "b");
    EXPECT_EQ(file.header.entries[0].type, StoredType::BF16);
    EXPECT_EQ(file.header.entries[0].shape, Dimensions{3});
    EXPECT_EQ(file.data(file.header.entries[0]), "abcdef");
    EXPECT_EQ(file.header.entries[1].shape, Dimensions{});
    EXPECT_EQ(file.data(file.header.entries[1]), "1234");
}

TEST(Safetensors, WhatIsNotFinishedLeavesNothingBehind) {
    const ScratchFolder folder;
    {
        SafetensorsWriter writer(folder.path() / "w", {{"a", StoredType::F32, {}}}, {});
        writer.append("1234");
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, AcceptsTheFormatsFreedoms) {
    EXPECT_EQ(mistake_of("{}", 0), "none");
    EXPECT_EQ(mistake_of(R"({"__metadata__":{}}   )", 0), "none");
    EXPECT_EQ(mistake_of(R"({"e":{"dtype":"F32","shape":[0,7],"data_offsets":[2,2]},
                             "b":{"shape":[1],"data_offsets":[0,2],"dtype":"F16"}})",
                         2),
              "none");
}

TEST(Safetensors, RefusesWhatIsNoHeader) {
    EXPECT_EQ(mistake_in(""), "0 bytes are too few for a safetensors file");
    EXPECT_EQ(mistake_in("PK\x03\x04zip archive"),
              "not a safetensors file: a header of 2337484179379538768 bytes, the limit is "
              "100000000");
    EXPECT_EQ(mistake_in(file_of("{}", 0).substr(0, 9)),
              "cut short: a header of 2 bytes in a file of 9");
    EXPECT_EQ(mistake_of("[]", 0), "the header is not a JSON object");
    EXPECT_EQ(mistake_of("{\"a\" 1}", 0), "the header is not JSON, at its byte 6");
    EXPECT_EQ(mistake_of("{} {}", 0), "the header is not JSON, at its byte 4");
    EXPECT_EQ(mistake_of(std::string(1'000'000, '['), 0), "the header is not a JSON object");
}

TEST(Safetensors, RefusesEntriesOfAnotherForm) {
    EXPECT_EQ(mistake_of(R"({"a":{"dtype":"F33","shape":[],"data_offsets":[0,4]}})", 4),
              "tensor 'a' has the unknown type 'F33'");
    EXPECT_EQ(mistake_of(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4),
              "the header has the negative number -1 where something else belongs, at 'a'");
    EXPECT_EQ(mistake_of(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4),
              "the header has a number that is not whole where something else belongs, at 'a'");
    EXPECT_EQ(mistake_of(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4),
              "tensor 'a' needs a dtype, a shape and two data_offsets");
    EXPECT_EQ(mistake_of(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0]}})", 4),
              "tensor 'a' needs a dtype, a shape and two data_offsets");
    EXPECT_EQ(mistake_of(R"({"a":{"dtype":"F32","shape":[],"shape":[1]}})", 4),
              "tensor 'a' has two values of 'shape'");
    EXPECT_EQ(mistake_of(R"({"a":{"size":4}})", 4), "tensor 'a' has the unknown key 'size'");
    EXPECT_EQ(mistake_of(R"({"__metadata__":{"a":1}})", 0),
              "the header has the number 1 where something else belongs, at '__metadata__'");
    EXPECT_EQ(mistake_of(R"({"__metadata__":{"a":"1","a":"2"}})", 0),
              "the header has two values of metadata 'a'");
    EXPECT_EQ(mistake_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
                             "a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                         2),
              "the header has two values of tensor 'a'");
}

TEST(Safetensors, RefusesDataThatDoesNotFit) {
    const auto two = [](const std::string& first, const std::string& second) {
        return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
               R"(},"b":{"dtype":"U8","shape":[2,2],"data_offsets":)" + second + "}}";
    };
    EXPECT_EQ(mistake_of(two("[0,4]", "[4,8]"), 8), "none");
    EXPECT_EQ(mistake_of(two("[0,4]", "[4,8]"), 7),
              "tensor 'b' lies at bytes 4 to 8 of 7 bytes of data");
    EXPECT_EQ(mistake_of(two("[0,4]", "[4,8]"), 9), "the tensors end at byte 8 of 9 bytes of data");
    EXPECT_EQ(mistake_of(two("[0,4]", "[3,7]"), 8),
              "tensor 'b' begins at byte 3 of the data, inside tensor 'a', which ends at 4");
    EXPECT_EQ(mistake_of(two("[5,9]", "[0,4]"), 9),
              "bytes 4 to 5 of the data, before tensor 'a', belong to no tensor");
    EXPECT_EQ(mistake_of(two("[0,5]", "[5,9]"), 9),
              "tensor 'a' of type U8 and shape [4] has 5 bytes");
    EXPECT_EQ(mistake_of(two("[4,0]", "[4,8]"), 8),
              "tensor 'a' lies at bytes 4 to 0 of 8 bytes of data");
    EXPECT_EQ(
        mistake_of(R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})",
                   0),
        "tensor 'a' of type F64 and shape [4294967296, 4294967296] has 0 bytes");
}

TEST(Safetensors, AMissingFileAndAFolderAreMistakes) {
    EXPECT_THROW(open_safetensors("/nonexistent/w.safetensors"), InputError);
    EXPECT_THROW(open_safetensors("/"), InputError);
}

}  // namespace
}  // namespace debubble::exec
