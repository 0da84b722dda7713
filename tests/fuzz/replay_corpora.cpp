#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"

// FUZZERS is FUZZER(csv) FUZZER(scenario) and so on: csv_fuzz.cpp has fuzz_csv here.
#define FUZZER(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
FUZZERS
#undef FUZZER

namespace {

using Fuzzer = int (*)(const std::uint8_t*, std::size_t);

#define FUZZER(name) {#name, &fuzz_##name},
const std::map<std::string, Fuzzer> kFuzzers = {FUZZERS};
#undef FUZZER

}  // namespace

/// Stands in for libFuzzer: runs the fuzzer named first once on every file of the folder named
/// second, so that what a fuzzer found once is tested everywhere.
int main(int count, char** arguments) {
    namespace fs = std::filesystem;
    if (count != 3 || !kFuzzers.contains(arguments[1])) {
        std::fprintf(stderr, "fuzz_corpora FUZZER FOLDER\n");
        return 2;
    }
    const Fuzzer fuzzer = kFuzzers.at(arguments[1]);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(arguments[2]))
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        std::printf("%s\n", file.c_str());
        std::fflush(stdout);  // the last name printed is the one that crashed
        const std::string bytes = debubble::read_file(file);
        fuzzer(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    return files.empty() ? 1 : 0;
}
