#include "tests/support/run_tests.h"

#include <cstdio>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

namespace debubble {
namespace {

/// The compiler may name sources from the root of the file system or from the build's folder.
bool lies_in(std::string_view source, std::string_view folder) {
    const std::string_view its_folder = source.substr(0, source.rfind('/'));
    return its_folder.ends_with(folder) &&
           (its_folder.size() == folder.size() ||
            its_folder[its_folder.size() - folder.size() - 1] == '/');
}

struct Others {
    std::string names;  ///< joined by colons, as a filter of GoogleTest has them
    bool are_all = true;
};

Others cases_outside(std::string_view folder) {
    Others others;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            if (lies_in(test.file(), folder))
                others.are_all = false;
            else
                others.names += std::string(":") + suite.name() + "." + test.name();
        }
    }
    return others;
}

}  // namespace

int run_tests(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    constexpr std::string_view kFolder = "--folder=";
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (!word.starts_with(kFolder)) {
            std::fprintf(stderr, "unknown option %s\n", argv[i]);
            return 2;
        }
        const Others others = cases_outside(word.substr(kFolder.size()));
        if (others.are_all) {
            std::fprintf(stderr, "no case of this program lies in %s\n", argv[i] + kFolder.size());
            return 2;
        }
        const std::string filter = GTEST_FLAG_GET(filter);
        GTEST_FLAG_SET(filter,
                       filter + (filter.find('-') == std::string::npos ? "-" : ":") + others.names);
    }
    return RUN_ALL_TESTS();
}

}  // namespace debubble
