#include "base/command_line/exit_status.h"

#include <new>
#include <system_error>

#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace debubble {
namespace {

template <class Error>
Ending of(const Error& error) {
    return ending_of(std::make_exception_ptr(error));
}

void expect(const Ending& ending, ExitStatus status, const std::string& message) {
    EXPECT_EQ(ending.status, status);
    EXPECT_EQ(ending.message, message);
}

TEST(AnUncaughtException, IsTheFaultOfWhoItSays) {
    expect(of(NegativeAnswer("a.csv: the schedule waits for itself")), ExitStatus::No,
           "a.csv: the schedule waits for itself\n");
    expect(of(InputError("no such model")), ExitStatus::BadInput, "error: no such model\n");
    expect(of(WorldError("the disk is full")), ExitStatus::World, "error: the disk is full\n");
    expect(of(std::bad_alloc()), ExitStatus::World, "error: out of memory\n");
    expect(of(std::logic_error("a rank holds two stages")), ExitStatus::World,
           "internal error, please report it: a rank holds two stages\n");
    const std::system_error full(std::make_error_code(std::errc::no_space_on_device), "x.json");
    expect(of(full), ExitStatus::World, std::string("error: ") + full.what() + "\n");
}

}  // namespace
}  // namespace debubble
