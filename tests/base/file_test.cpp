#include "base/file.h"

#include <array>
#include <filesystem>
#include <ostream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace debubble {
namespace {

namespace fs = std::filesystem;

struct FileTest : testing::Test {
    fs::path folder = fs::path(testing::TempDir()) / "debubble_file_test";
    void SetUp() override { fs::remove_all(folder); }
    void TearDown() override { fs::remove_all(folder); }
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
    }
};

TEST_F(FileTest, WritesWhatItReadsAndMakesTheFolder) {
    write_file(folder / "deep" / "a.txt", "one\ntwo");
    EXPECT_EQ(read_file(folder / "deep" / "a.txt"), "one\ntwo");
}

TEST_F(FileTest, LeavesTheOldContentWhenWritingFails) {
    write_file(folder / "a.txt", "old");
    EXPECT_THROW(write_file(folder / "a.txt",
                            [](std::ostream& out) {
                                out << "half of the new";
                                throw std::runtime_error("stop");
                            }),
                 std::runtime_error);
    EXPECT_EQ(read_file(folder / "a.txt"), "old");
    EXPECT_EQ(entries(), 1u) << "the file written aside was left behind";
}

TEST_F(FileTest, WritesThroughALinkAndKeepsIt) {
    write_file(folder / "a.txt", "old");
    fs::create_symlink("a.txt", folder / "link");
    write_file(folder / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(read_file(folder / "a.txt"), "new");
}

TEST_F(FileTest, WritesToADeviceInsteadOfReplacingIt) {
    fs::create_directories(folder);
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    write_file(folder / "pipe", "news");
    std::array<char, 8> read{};
    EXPECT_EQ(::read(reader, read.data(), read.size()), 4);
    ::close(reader);
    EXPECT_STREQ(read.data(), "news");
    EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
    EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, SaysThatAFolderIsNoFile) {
    fs::create_directories(folder);
    EXPECT_THROW(write_file(folder, "x"), WorldError);
    EXPECT_TRUE(fs::is_directory(folder));
}

TEST_F(FileTest, RefusesWhatIsMissingAFolderOrTooLong) {
    write_file(folder / "a.txt", "12345");
    EXPECT_THROW(read_file(folder / "none"), InputError);
    EXPECT_THROW(read_file(folder), InputError);
    EXPECT_THROW(read_file(folder / "a.txt", 4), InputError);
}

}  // namespace
}  // namespace debubble
