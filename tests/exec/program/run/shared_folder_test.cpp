#include "exec/program/run/world/same_run.h"

#include <fstream>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "exec/comm/transports.h"
#include "tests/exec/support/scratch_folder.h"

namespace debubble::exec {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

/// The sentence of each rank that saves in this folder.
std::vector<std::string> verdicts(const std::vector<std::filesystem::path>& by_rank) {
    std::vector<std::string> said(by_rank.size());
    run_local(static_cast<int>(by_rank.size()), Transport::Buffered, [&](Communicator& world) {
        const auto rank = static_cast<std::size_t>(world.rank());
        try {
            check_folder_is_shared(world, by_rank[rank], std::chrono::seconds(60));
        } catch (const std::exception& error) {
            said[rank] = error.what();
        }
    });
    return said;
}

TEST(RanksThatShareTheFolderTheySaveIn, AreToldNothingAndLeaveNothingThere) {
    const ScratchFolder folder;
    EXPECT_THAT(verdicts({folder.path(), folder.path() / ".", folder.path()}), Each(""));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RanksThatSaveInSeveralFolders, AreAllToldWhichRanksDoAndLeaveNothingThere) {
    const ScratchFolder one, other;
    const auto missing = other.path() / "missing";
    EXPECT_THAT(verdicts({one.path(), other.path(), one.path(), missing}),
                Each(AllOf(HasSubstr("must be one folder that all hosts share"),
                           HasSubstr("is not in that of ranks 1 and 3\n"))));
    EXPECT_TRUE(std::filesystem::is_empty(one.path()));
    EXPECT_TRUE(std::filesystem::is_empty(other.path()));
}

TEST(RanksThatSaveInAFolder, AreAllToldWhereTheFirstCannotWrite) {
    const ScratchFolder folder;
    const auto file = folder.path() / "file";
    std::ofstream(file) << "not a folder";
    EXPECT_THAT(verdicts({file, file}), Each(HasSubstr("checkpoints cannot be written there")));
}

}  // namespace
}  // namespace debubble::exec
