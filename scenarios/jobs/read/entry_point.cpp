#include "scenarios/jobs/read/script_settings.h"

#include <algorithm>
#include <string>
#include <vector>

namespace debubble::jobs {
namespace {

struct Word {
    std::string_view part;
    std::string_view what;
};

/// Parts of programs' names, of Megatron-LM at d98e8a64dd, Megatron-DeepSpeed and those that build
/// on them.
constexpr Word kOthers[] = {
    {"t5", "trains T5, an encoder and a decoder"},
    {"bert", "trains BERT, an encoder with masked tokens and heads of its own"},
    {"ict", "trains two encoders for retrieval"},
    {"biencoder", "trains two encoders for retrieval"},
    {"realm", "trains two encoders for retrieval"},
    {"retro", "trains RETRO, a decoder with an encoder of retrieved text"},
    {"vlm", "trains a vision tower before a decoder"},
    {"vl", "trains a vision tower before a decoder"},
    {"llava", "trains a vision tower before a decoder"},
    {"multimodal", "trains encoders of other modalities before a decoder"},
    {"mimo", "trains encoders of other modalities before a decoder"},
    {"omni", "trains encoders of other modalities before a decoder"},
    {"vision", "trains a vision network"},
    {"vit", "trains a vision network"},
    {"swin", "trains a vision network"},
    {"dino", "trains a vision network"},
    {"inpaint", "trains a vision network"},
    {"clip", "trains a text tower and a vision tower"},
    {"dit", "trains a diffusion network"},
    {"diffusion", "trains a diffusion network"},
    {"rl", "trains with rollouts as part of its steps"},
    {"generation", "generates text and does not train"},
    {"generate", "generates text and does not train"},
    {"inference", "answers requests and does not train"},
    {"preprocess", "prepares data and does not train"},
};

/// Parts of the names of Megatron-Bridge's providers (067f987df) that build layers of their own,
/// whatever their fields say.
constexpr std::string_view kOwnLayers[] = {
    "gemma2",   "gemma3", "gemma4", "falcon",     "k3",    "step35",        "step37",
    "flash",    "v4",     "m3",     "exaone",     "audio", "asr",           "distillation",
    "exaone45", "sound",  "v",      "ministral3", "token", "heterogeneous", "classification"};

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

/// The words of a class's name, in small letters: qwen25, vl, model and provider of
/// Qwen25VLModelProvider.
std::vector<std::string> words_of_class(std::string_view name) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool begins = is_upper(name[i]) && (i == 0 || !is_upper(name[i - 1]) ||
                                                  (i + 1 < name.size() && is_lower(name[i + 1])));
        if (begins || words.empty()) words.emplace_back();
        words.back() += is_upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
    }
    return words;
}

/// The parts of the program's own name, between "_", "-" and ".".
std::vector<std::string_view> parts_of(std::string_view program) {
    if (program.ends_with(".py")) {
        program.remove_suffix(3);
        program = program.substr(program.rfind('/') + 1);
    } else {  // a module: examples.multimodal.train
        program = program.substr(program.rfind('.') + 1);
    }
    std::vector<std::string_view> parts;
    while (!program.empty()) {
        const std::size_t end = std::min(program.find_first_of("_-."), program.size());
        if (end > 0) parts.push_back(program.substr(0, end));
        program.remove_prefix(std::min(end + 1, program.size()));
    }
    return parts;
}

/// The folder in which the program lies: "multimodal" of examples/multimodal/train.py.
std::string_view folder_of(std::string_view program) {
    const char between = program.ends_with(".py") ? '/' : '.';
    const std::size_t end = program.rfind(between);
    if (end == std::string_view::npos || end == 0) return {};
    const std::size_t begin = program.rfind(between, end - 1);
    return program.substr(begin == std::string_view::npos ? 0 : begin + 1,
                          end - (begin == std::string_view::npos ? 0 : begin + 1));
}

}  // namespace

void add_entry_points(const ShellCommand& command, const ShellScript& script, Settings& settings) {
    const std::vector<ShellText>& words = command.words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& text = words[i].text;
        const bool is_module = i > 0 && words[i - 1].text == "-m" &&
                               text.find('.') != std::string::npos &&
                               !text.starts_with("torch.distributed");
        if (!is_module && !(text.ends_with(".py") && !text.starts_with('-'))) continue;
        const text::SourcePosition place = script.place(words[i].offset());
        settings.add({std::string(kEntryPoint), text, text::make_scalar(text, place), place, true});
    }
}

std::string_view other_network_of(std::string_view program) {
    const std::vector<std::string_view> parts = parts_of(program);
    for (const Word& word : kOthers)
        if (std::ranges::find(parts, word.part) != parts.end()) return word.what;
    // Megatron-LM's examples/multimodal/train.py and its like, whose own names say nothing.
    const bool plain = std::ranges::find(parts, "gpt") == parts.end();
    for (const std::string_view folder : {"multimodal", "mimo", "retro", "t5", "bert"})
        if (plain && folder_of(program) == folder)
            return std::ranges::find(kOthers, folder, &Word::part)->what;
    if (parts.size() == 1 && parts.front() == "main" && folder_of(program) == "tasks")
        return "runs a task on a trained network";
    return {};
}

std::string_view other_network_of_class(std::string_view name) {
    const std::vector<std::string> words = words_of_class(name.substr(name.rfind('.') + 1));
    for (const Word& word : kOthers)
        if (std::ranges::find(words, word.part) != words.end()) return word.what;
    for (const std::string_view part : kOwnLayers)
        if (std::ranges::find(words, part) != words.end()) return "builds its own layers";
    return {};
}

bool is_hybrid_program(std::string_view program) {
    const std::vector<std::string_view> parts = parts_of(program);
    return std::ranges::any_of(
        parts, [](std::string_view part) { return part == "mamba" || part == "hybrid"; });
}

}  // namespace debubble::jobs
