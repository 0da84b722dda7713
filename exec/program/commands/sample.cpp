#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cuda/load_module.h"
#include "exec/program/sample/continue_text.h"

/// `debubble sample`: continues a text with a trained network.
namespace debubble::exec {
namespace {

struct SampleArguments {
    std::string checkpoint;
    std::string prompt;
    std::string tokenizer;
    Continuation how;
    std::string kernels = "auto";
    std::optional<int> threads;
    std::string device = "cpu";
};

void check(const Sampling& how) {
    // The condition is written so that a NaN is refused.
    if (!(how.temperature >= 0 && std::isfinite(how.temperature)))
        throw InputError(
            fmt::format("--temperature is {}; it is a number from 0 (the most probable token)",
                        how.temperature));
    if (!(how.top_p > 0 && how.top_p <= 1))
        throw InputError(
            fmt::format("--top-p is {}; it is a probability above 0, up to 1", how.top_p));
}

void write(const std::string& text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0) throw WorldError("standard output cannot be written");
}

ExitStatus carry_out(const SampleArguments& args) {
    check(args.how.sampling);
    if (args.device != "cpu" && args.device != "cuda")
        throw InputError(fmt::format("--device is '{}'; it can be cpu or cuda", args.device));
    const std::unique_ptr<Device> gpu =
        args.device == "cuda" ? CudaModule::load().device_of(0, 1) : nullptr;
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const auto kernels =
        gpu ? gpu->make_kernels() : make_cpu_kernels(args.kernels, args.threads.value_or(cores));
    const SavedNetwork network = open_saved_network(args.checkpoint);
    for (const std::string& note : network.notes) fmt::print(stderr, "{}\n", note);
    LanguageModel model(network, *kernels, gpu.get());
    const NetworkTokenizer tokenizer = tokenizer_of(network, args.tokenizer);
    Continuation how = args.how;
    how.end_of_text = tokenizer.end_of_text;
    how.entries = tokenizer.tokenizer->vocab();  // a padded vocabulary has more
    std::vector<std::int32_t> tokens = prompt_tokens(args.prompt, tokenizer, model.vocab());
    write(args.prompt);
    continue_text(model, std::move(tokens), how, [&](std::int32_t token) {
        write(tokenizer.tokenizer->decode({&token, 1}));
    });
    write("\n");
    return ExitStatus::Done;
}

constexpr const char* kSampleFooter =
    R"(A CHECKPOINT is a folder step_N of a run, the folder that holds them (the latest counts), or a folder
of Hugging Face's with config.json and model.safetensors. The text ends at --tokens or at end-of-text.

Examples:
  debubble sample checkpoints --prompt "Once upon a time"
  debubble sample checkpoints/step_500 --prompt "The cat" --temperature 0.8 --top-k 40 --seed 3)";

}  // namespace

void add_sample(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<SampleArguments>();
    Sampling& sampling = args->how.sampling;
    CLI::App* verb = program.add_subcommand("sample", "continue a text with a trained checkpoint");
    verb->add_option("CHECKPOINT", args->checkpoint, "folder of a checkpoint")->required();
    verb->add_option("--prompt", args->prompt, "the text to continue")->required();
    verb->add_option("--tokens", args->how.tokens, "at most this many tokens; 100 if not given")
        ->check(CLI::NonNegativeNumber);
    verb->add_option("--temperature", sampling.temperature,
                     "1 if not given; 0 takes the most probable token");
    verb->add_option("--top-k", sampling.top_k,
                     "draw from this many most probable tokens; 0: from all")
        ->check(CLI::NonNegativeNumber);
    verb->add_option("--top-p", sampling.top_p,
                     "draw from the most probable tokens with this total probability");
    verb->add_option("--seed", sampling.seed, "seed of the draws; 0 if not given");
    verb->add_option("--tokenizer", args->tokenizer,
                     "tokenizer.json, vocab.json, a folder, or bytes; else the training's");
    verb->add_option("--device", args->device, "cpu, or cuda: the first GPU");
    verb->add_option("--kernels", args->kernels, cpu_back_end_names());
    verb->add_option("--threads", args->threads, "all cores if not given")
        ->check(CLI::Range(1, 1024));
    verb->footer(kSampleFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::exec
