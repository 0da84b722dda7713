#pragma once

#include <stdexcept>
#include <string_view>

namespace debubble {

/// A defect of debubble itself: exit code 3. what() names the place, the sentence that ought to be
/// true and the condition that is false.
class Defect : public std::logic_error {
    using std::logic_error::logic_error;
};

/// Throws Defect. The file is shown relative to the project's root.
[[noreturn]] void report_defect(std::string_view file, int line, std::string_view condition,
                                std::string_view sentence);

}  // namespace debubble

/// An assertion that is on in every build: throws Defect if the condition is false. `sentence` says
/// what ought to be true; it is only evaluated on failure, so it may be formatted. An `assert` is
/// for loops over elements, and for destructors, which must not throw.
#define DEBUBBLE_CHECK(condition, sentence)                                        \
    do {                                                                           \
        if (!(condition)) [[unlikely]]                                             \
            ::debubble::report_defect(__FILE__, __LINE__, #condition, (sentence)); \
    } while (false)
