#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "exec/io/data/data_set.h"

/// Any bytes: either an InputError, or a token file whose samples can all be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    using namespace debubble::exec;
    const int memory = ::memfd_create("fuzz.bin", MFD_CLOEXEC);
    if (memory < 0 || ::write(memory, data, size) != static_cast<ssize_t>(size)) std::abort();
    try {
        const auto file =
            std::make_shared<const TokenFile>("/proc/self/fd/" + std::to_string(memory));
        if (file->is_intact() && file->origin().size() != 64) std::abort();
        const TokenRules rules{.seq_length = 3, .vocab = 50257};
        const auto read_all = [](const DataSet& set) {
            Batch batch = set.batch_of(1);
            for (std::int64_t i = 0; i < set.samples(); ++i)
                if (set.read(i, 0, batch) != set.counted(i)) std::abort();
        };
        read_all(*padded_documents(file, 50256, rules));
        read_all(*packed_tokens(file, rules));
    } catch (const InputError&) {
    }
    ::close(memory);
    return 0;
}
