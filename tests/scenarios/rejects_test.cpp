#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/read/read_scenario.h"
#include "tests/support/source_folder.h"

/// Every file of rejects/ holds the mistake that its name says; beside it lies all that
/// the program says of it. DEBUBBLE_WRITE_REJECTS=1 writes the texts anew, to be read
/// before they are committed.
namespace debubble::scenarios {
namespace {

namespace fs = std::filesystem;

std::string said_of(const fs::path& file) {
    const fs::path folder = file.parent_path();
    const std::string cwd = fs::current_path().string();
    fs::current_path(folder);  // so that the texts do not depend on where the sources lie
    std::string said = "nothing: it was read\n";
    try {
        parse_scenario(read_file(file), file.filename().string());
    } catch (const InputError& error) {
        said = error.what();
    }
    fs::current_path(cwd);
    return said;
}

TEST(RejectedScenario, IsAnsweredWithThisText) {
    const bool write = std::getenv("DEBUBBLE_WRITE_REJECTS") != nullptr;
    int count = 0;
    for (const auto& entry : fs::directory_iterator(source_folder() / "tests/scenarios/rejects")) {
        if (entry.path().extension() != ".yaml") continue;
        ++count;
        const std::string said = said_of(entry.path());
        const fs::path expected = fs::path(entry.path()).replace_extension(".txt");
        if (write) write_file(expected, said);
        EXPECT_EQ(said, read_file(expected)) << entry.path().filename();
        EXPECT_NE(said, "nothing: it was read\n") << entry.path().filename();
    }
    EXPECT_GE(count, 50);
}

}  // namespace
}  // namespace debubble::scenarios
