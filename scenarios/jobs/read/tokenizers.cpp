#include "scenarios/jobs/read/zoo_names.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace debubble::jobs {
namespace {

/// Parts of names, in lower case and without '-', '_' and '.', of which the first that fits counts,
/// with vocab_size of the published config.json.
constexpr std::pair<std::string_view, std::int64_t> kNamedVocabularies[] = {
    {"deepseekr1distillqwen15b", 151936},
    {"deepseekr1distillqwen", 152064},
    {"deepseekr1distillllama", 128256},
    {"deepseekv2", 102400},
    {"deepseekv3", 129280},
    {"deepseekr1", 129280},
    {"deepseekmoe16b", 102400},
    {"llama4", 202048},
    {"llama32", 128256},
    {"llama3", 128256},
    {"llama2", 32000},
    {"llama7b", 32000},
    {"llama13b", 32000},
    {"codellama", 32016},
    {"mixtral8x22b", 32768},
    {"mixtral8x7b", 32000},
    {"mistralnemo", 131072},
    {"mistral7bv03", 32768},
    {"mistral7b", 32000},
    {"qwen3moe", 151936},
    {"qwen35", 248320},
    {"qwen3next", 151936},
    {"qwen3", 151936},
    {"qwen2505b", 151936},
    {"qwen2515b", 151936},
    {"qwen253b", 151936},
    {"qwen25", 152064},
    {"qwen205b", 151936},
    {"qwen215b", 151936},
    {"qwen2", 152064},
    {"gptoss", 201088},
    {"kimik2", 163840},
    {"moonlight", 163840},
    {"glm45", 151552},
    {"glm46", 151552},
    {"glm47", 151552},
    {"glm49b", 151552},
    {"minimaxm2", 200064},
    {"grok1", 131072},
    {"gptneox20b", 50432},
    {"gemma3", 262208},
    {"gemma2", 256000},
    {"gemma", 256000},
    {"phi4", 100352},
    {"olmo2", 100352},
    {"smollm2", 49152},
    {"smollm3", 128256},
    {"starcoder2", 49152},
    {"gpt2", 50257}};

}  // namespace

std::optional<std::int64_t> vocabulary_of_model(std::string_view name) {
    std::string plain;
    for (const char c : name)
        if (c != '-' && c != '_' && c != '.')
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    // Mixtral 8x22B v0.1 has Mistral's first tokenizer.
    if (plain.find("mixtral8x22b") != std::string::npos &&
        (plain.find("v01") != std::string::npos || plain.find("v03") == std::string::npos))
        return 32000;
    for (const auto& [part, tokens] : kNamedVocabularies)
        if (plain.find(part) != std::string::npos) return tokens;
    return {};
}

}  // namespace debubble::jobs
