#include <cstdint>
#include <string>

#include "base/diagnostic.h"
#include "scenarios/cluster/collective_samples.h"

/// Any bytes, as a table of nccl-tests and as a dump of NCCL's Inspector: either an InputError, or
/// samples that can be fitted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const auto read : {scenarios::read_nccl_tests_text, scenarios::read_nccl_inspector_text}) {
        try {
            const auto samples = read(text, "all_reduce.txt");
            for (const bool of_one_node : {true, false})
                scenarios::words_of(scenarios::fit_collectives(samples, of_one_node));
        } catch (const InputError&) {
        }
    }
    return 0;
}
