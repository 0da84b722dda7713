#include "base/command_line/exit_status.h"

#include <cstdio>
#include <new>
#include <string_view>
#include <system_error>

#include "base/diagnostic.h"

namespace debubble {

namespace {

Ending ending(ExitStatus status, std::string_view prefix, std::string_view message) {
    std::string text{prefix};
    text += printable(message);
    if (!text.ends_with('\n')) text += '\n';
    return {status, std::move(text)};
}

}  // namespace

Ending ending_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const NegativeAnswer& no) {
        return ending(ExitStatus::No, "", no.what());
    } catch (const InputError& input) {
        return ending(ExitStatus::BadInput, "", input.what());
    } catch (const WorldError& world) {
        return ending(ExitStatus::World, "error: ", world.what());
    } catch (const std::system_error& system) {
        return ending(ExitStatus::World, "error: ", system.what());
    } catch (const std::bad_alloc&) {
        return ending(ExitStatus::World, "error: ", "out of memory");
    } catch (const std::exception& ours) {
        return ending(ExitStatus::World, "internal error, please report it: ", ours.what());
    }
}

int report(const Ending& ending) {
    std::fflush(stdout);
    std::fputs(ending.message.c_str(), stderr);
    return static_cast<int>(ending.status);
}

}  // namespace debubble
