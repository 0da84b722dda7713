#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/jobs/job.h"
#include "scenarios/jobs/megatron/flags.h"
#include "tests/support/source_folder.h"

/// What becomes of every flag of Megatron-LM, held against megatron_flags.txt.
namespace debubble::jobs {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// A job to which a flag is added, on 16 GPUs.
constexpr const char* kPlainJob =
    "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 1024 "
    "--num-attention-heads 16 --ffn-hidden-size 4096 --seq-length 2048 --normalization RMSNorm "
    "--position-embedding-type rope --swiglu "
    "--untie-embeddings-and-output-weights --hidden-dropout 0 --attention-dropout 0 "
    "--tokenizer-type Llama3Tokenizer --bf16 --micro-batch-size 2 --global-batch-size 64 "
    "--tensor-model-parallel-size 2 --sequence-parallel --pipeline-model-parallel-size 4 "
    "--use-distributed-optimizer";

struct ListedFlag {
    std::string word;   ///< planned, harmless, noted or refused
    std::string name;   ///< with dashes
    std::string value;  ///< empty for a bare flag
    std::string with;   ///< flags that the job has too
};

std::string trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return std::string(text);
}

std::vector<ListedFlag> listed() {
    std::istringstream file(read_file(source_folder() / "tests/scenarios/jobs/megatron_flags.txt"));
    std::vector<ListedFlag> lines;
    for (std::string text; std::getline(file, text);) {
        if (text.empty() || text.starts_with('#')) continue;
        ListedFlag line;
        std::size_t bar = std::min(text.find(" | "), text.size());
        std::istringstream own(text.substr(0, bar));
        own >> line.word >> line.name;
        std::getline(own, line.value);
        line.value = trimmed(line.value);
        while (bar < text.size()) {
            const std::size_t next = std::min(text.find(" | ", bar + 3), text.size());
            line.with += " --" + text.substr(bar + 3, next - bar - 3);
            bar = next;
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

Imported with_flags(const std::string& flags, const std::vector<std::string>& allow = {}) {
    return import_text(fmt::format("{}{}\n", kPlainJob, flags), "train.sh", "megatron",
                       {{"cluster", "hgx-b200"}}, {}, {.allow = allow});
}

/// The scenario's keys, without the comments that say whence they come.
std::string keys_of(const Imported& job) {
    std::string keys;
    std::istringstream text(job.text);
    for (std::string line; std::getline(text, line);)
        if (!line.starts_with('#')) keys += trimmed(line.substr(0, line.find('#'))) + "\n";
    return keys;
}

/// The same job without the flag; every job with the same other flags is read once.
const Imported& without(const std::string& with) {
    static std::map<std::string, Imported> known;
    const auto found = known.find(with);
    return found != known.end() ? found->second
                                : known.emplace(with, with_flags(with)).first->second;
}

std::string refusal_of(const std::string& flags) {
    try {
        with_flags(flags);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(MegatronFlags, HaveTheFateOfTheList) {
    for (const ListedFlag& line : listed()) {
        const std::string flag =
            fmt::format(" --{}{}{}", line.name, line.value.empty() ? "" : " ", line.value);
        SCOPED_TRACE(line.with + flag);
        const auto names_it = HasSubstr("--" + line.name + ":");
        if (line.name.starts_with('_')) continue;  // a field of no file
        if (line.word == "refused") {
            EXPECT_THAT(refusal_of(line.with + flag), HasSubstr("train.sh:1:"));
            continue;
        }
        try {
            const Imported job = with_flags(line.with + flag);
            if (line.word == "planned") {
                EXPECT_NE(keys_of(job), keys_of(without(line.with)));
            } else {
                EXPECT_EQ(keys_of(job), keys_of(without(line.with)));
                if (line.word == "noted")
                    EXPECT_THAT(job.notes, Contains(names_it));
                else
                    EXPECT_THAT(job.notes, Not(Contains(HasSubstr("--" + line.name))));
            }
        } catch (const InputError& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST(MegatronFlags, AreAllListedOnce) {
    std::map<std::string, int> count;
    for (const ListedFlag& line : listed()) {
        std::string name = line.name;
        if (!name.starts_with('_')) std::ranges::replace(name, '-', '_');
        ++count[name];
        EXPECT_TRUE(flag_fact(name)) << name;
        EXPECT_THAT(line.word, AnyOf("planned", "harmless", "noted", "refused"));
    }
    for (const auto& [name, times] : count) EXPECT_EQ(times, 1) << name;
    // 876 spellings of 838 flags, of which two share a name with another, and 83 fields beside.
    EXPECT_GE(count.size(), 950U);
}

TEST(MegatronFlags, SayWhyTheyChangeNoPlan) {
    for (const FlagGroup& group : harmless_flags()) {
        EXPECT_TRUE(group.reason.ends_with('.')) << group.reason;
        EXPECT_FALSE(group.names.empty()) << group.reason;
    }
}

TEST(MegatronFlags, ThatNobodyKnowsAreRefusedByAWordOfLayers) {
    for (const char* word : {"attention", "linear", "mamba", "dsa", "expert", "mtp", "encoder",
                             "vision", "gate", "latent", "hyper"}) {
        for (const std::string& name :
             {fmt::format("{}-something-new", word), fmt::format("something-{}-new", word),
              fmt::format("new-{}", word)}) {
            EXPECT_THAT(refusal_of(" --" + name),
                        HasSubstr("--" + name + ": it is not a known setting"));
            const Imported allowed = with_flags(" --" + name, {"--" + name});
            EXPECT_THAT(allowed.notes.front(), HasSubstr("--" + name + ": allowed"));
            EXPECT_EQ(keys_of(allowed), keys_of(without("")));
        }
        // A part of a word is none.
        EXPECT_EQ(refusal_of(fmt::format(" --x{}y-path 3", word)), "");
    }
}

}  // namespace
}  // namespace debubble::jobs
