#include "exec/program/run/world/same_run.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::exec {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderLabel = "the comparison of checkpoint folders";
constexpr auto kUntilSeen = std::chrono::seconds(5);  ///< file systems may show a file later
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

enum class Answer : std::int32_t { Shared, NotSeen, NotWritable };
using ProbeName = std::array<std::int32_t, 4>;  ///< random; zeros mean that there is no file

ProbeName random_name() {
    std::random_device random;
    ProbeName name;
    for (std::int32_t& word : name)
        word = static_cast<std::int32_t>(random() >> 1 | 1);  // makes it positive
    return name;
}

fs::path probe_path(const fs::path& folder, const ProbeName& name) {
    return folder /
           fmt::format(".shared-{:08x}{:08x}{:08x}{:08x}", name[0], name[1], name[2], name[3]);
}

/// A file that is removed with this object.
class ProbeFile {
public:
    explicit ProbeFile(fs::path path) : path_(std::move(path)) {
        std::ofstream file(path_, std::ios::binary);
        file << "whether all ranks of a run share this folder\n" << std::flush;
        written_ = file.good();
    }
    ~ProbeFile() {
        std::error_code gone;
        fs::remove(path_, gone);
    }
    ProbeFile(const ProbeFile&) = delete;
    ProbeFile& operator=(const ProbeFile&) = delete;
    bool written() const { return written_; }

private:
    fs::path path_;
    bool written_ = false;
};

bool is_seen(const fs::path& path) {
    const auto end = std::chrono::steady_clock::now() + kUntilSeen;
    while (!std::ifstream(path, std::ios::binary).is_open()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(kBetweenLooks);
    }
    return true;
}

Answer answer_of(int rank, const fs::path& file) {
    if (!is_seen(file)) return Answer::NotSeen;
    const ProbeFile mine(fmt::format("{}-{}", file.string(), rank));
    return mine.written() ? Answer::Shared : Answer::NotWritable;
}

std::vector<int> ranks_that_say(Answer answer, std::span<const std::int32_t> answers) {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < answers.size(); ++rank)
        if (answers[rank] == static_cast<std::int32_t>(answer))
            ranks.push_back(static_cast<int>(rank));
    return ranks;
}

void check_answers(std::span<const std::int32_t> answers, const fs::path& folder) {
    std::vector<Diagnostic> mistakes;
    if (const auto ranks = ranks_that_say(Answer::NotSeen, answers); !ranks.empty())
        mistakes.push_back(
            {{},
             fmt::format("every rank saves its part of a checkpoint in 'training.checkpoint.dir', "
                         "which must be one folder that all hosts share: what rank 0 writes in {} "
                         "is not in that of {}",
                         folder.string(), words_for_ranks(ranks)),
             {}});
    if (const auto ranks = ranks_that_say(Answer::NotWritable, answers); !ranks.empty())
        mistakes.push_back({{},
                            fmt::format("every rank saves its part of a checkpoint in "
                                        "'training.checkpoint.dir', and {} cannot write in {}",
                                        words_for_ranks(ranks), folder.string()),
                            {}});
    if (!mistakes.empty()) throw KnownToAll(std::move(mistakes));
}

}  // namespace

void check_folder_is_shared(Communicator& world, const fs::path& folder,
                            std::chrono::nanoseconds patience) {
    ProbeName name{};
    std::optional<ProbeFile> first;
    if (world.rank() == 0) {
        name = random_name();
        first.emplace(probe_path(folder, name));
        if (!first->written()) name = {};
    }
    world.broadcast(buffer_of(std::span<std::int32_t>(name)), 0, kFolderLabel)
        ->wait(within(patience));
    if (name == ProbeName{}) {
        const std::string sentence =
            fmt::format("{}: checkpoints cannot be written there", folder.string());
        if (world.rank() == 0) throw WorldError(sentence);
        throw Aborted(sentence);
    }
    auto mine = static_cast<std::int32_t>(answer_of(world.rank(), probe_path(folder, name)));
    std::vector<std::int32_t> answers(world.size());
    world
        .all_gather({std::as_bytes(std::span(&mine, 1)), DataType::Int32},
                    {std::as_writable_bytes(std::span(answers)), DataType::Int32}, kFolderLabel)
        ->wait(within(patience));
    check_answers(answers, folder);
}

}  // namespace debubble::exec
