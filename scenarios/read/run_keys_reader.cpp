#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/read/draft.h"
#include "text/quantity.h"

/// The keys that a simulation does not need. They are checked here all the same, so that a run does
/// not fail after an hour.
namespace debubble::scenarios {
namespace {

using text::custom;
using text::described;
using text::Fields;
using text::flag;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::narrowed;
using text::Node;
using text::NodePtr;
using text::read_fields;
using text::real;
using text::required;
using text::whole;

constexpr int kLargestTokenId = 1'000'000'000;

/// The place of a member of RunOptions.
auto in_run(auto member) {
    return
        [member](Draft& draft) -> decltype(auto) { return (draft.scenario.training.run.*member); };
}

/// A path to what is trained on, relative to the folder where the program runs.
template <class T>
text::Reading<T> path(std::string T::*place) {
    return {[place](MappingReader& in, std::string_view key, T& object) {
                std::string value;
                if (in.text(key, value))
                    object.*place = text::data_seen_from(in.value(key)->place, value).string();
            },
            [](T&) { return std::vector{Form{text::PathForm{}}}; },
            [](T&) { return std::string(); }};
}

constexpr double kLeastDeviation = 1e-6;
constexpr double kLargestPixel = 1e6;

/// A number, or one for each channel of an image.
void read_per_channel(MappingReader& in, std::string_view key, double least,
                      std::vector<double>& out) {
    const NodePtr value = in.value(key);
    if (!value) return;
    const bool is_list = value->is(Node::Kind::List);
    std::vector<double> numbers;
    for (const NodePtr& item : is_list ? value->items : std::vector{value}) {
        const auto number = text::parse_real(item->scalar);
        if (number && *number >= least && *number <= kLargestPixel) numbers.push_back(*number);
    }
    if (numbers.empty() || (is_list && numbers.size() != value->items.size()))
        in.complain(
            key, fmt::format("'{}' must be a number from {} to 1e+06, or one for each channel", key,
                             least));
    else
        out = std::move(numbers);
}

void read_mean(MappingReader& in, std::string_view key, DataOptions& data) {
    read_per_channel(in, key, 0, data.mean);
}

void read_deviation(MappingReader& in, std::string_view key, DataOptions& data) {
    read_per_channel(in, key, kLeastDeviation, data.deviation);
}

std::vector<Form> per_channel(double least) {
    const Form number{text::RealForm{least, kLargestPixel, {}}};
    return {number, Form{text::ListForm{{number}, {}}}};
}

/// The sources, of which exactly one is named.
const Fields<DataOptions>& source_fields() {
    static const Fields<DataOptions> kFields{
        {"tokens", path(&DataOptions::tokens), "A file of token ids.", "corpus.bin",
         "none: another source is given"},
        {"text", path(&DataOptions::text), "A text file to tokenize.", "tales.txt",
         "none: another source is given"},
        {"jsonl", path(&DataOptions::jsonl),
         "A file of texts, one JSON object with `text` per line.", "stories.jsonl",
         "none: another source is given"},
        {"images", path(&DataOptions::images),
         "A folder of images with one subfolder per class, or CIFAR-10's binary files.", "images/",
         "none: another source is given"}};
    return kFields;
}

const Fields<DataOptions>& data_fields() {
    static const Fields<DataOptions> kFields{
        {"eval", path(&DataOptions::eval), "Evaluation data of the same kind.", "held-out.txt",
         "none: no evaluation"},
        {"tokenizer", path(&DataOptions::tokenizer),
         "The tokenizer.json, or the vocab.json with its merges.txt, for tokenizing texts into "
         "tokens.",
         "gpt2/tokenizer.json", "bytes are tokens"},
        {"cache", path(&DataOptions::cache), "The cache folder for tokenized texts.", "cache/",
         "the folder of the text, else ~/.cache/debubble"},
        {"shuffle", flag(&DataOptions::shuffle), "Samples are shuffled in every epoch.", "true"},
        {"pack", flag(&DataOptions::pack),
         "Texts are concatenated and cut into samples of seq_length tokens.", "false"},
        {"pad_token", whole(&DataOptions::pad_token, 0, kLargestTokenId, "token id"),
         "The padding token for short samples.", "50256",
         "the end of text, if it is known, else 0"},
        {"end_of_text", whole(&DataOptions::end_of_text, 0, kLargestTokenId, "token id"),
         "The end-of-text token: it ends each text of JSON lines, and with 'pack: false' a new "
         "sample begins after it.",
         "50256", "the tokenizer's own, if it has one"},
        {"ignore_index", whole(&DataOptions::ignore_index, -kLargestTokenId, kLargestTokenId),
         "The target that the loss ignores.", "-100"},
        {"mean", custom(read_mean, per_channel(0)),
         "The pixel mean: one number, or one per channel.", "[0.485, 0.456, 0.406]",
         "0.5 for every channel"},
        {"std", custom(read_deviation, per_channel(kLeastDeviation)),
         "The pixel standard deviation: one number, or one per channel.", "[0.229, 0.224, 0.225]",
         "0.5 for every channel"}};
    return kFields;
}

void read_data_source(MappingReader& training, std::string_view key, Draft& draft) {
    const NodePtr map = training.value(key);
    if (!map) return;
    DataOptions& data = draft.scenario.training.run.data;
    MappingReader in(map, key, draft.mistakes());
    read_fields(in, source_fields(), data);
    const auto given = std::ranges::count_if(
        source_fields(), [&](const auto& source) { return in.has(source.name); });
    if (given != 1) {
        std::vector<std::string_view> names;
        for (const auto& source : source_fields()) names.push_back(source.name);
        training.complain(key, fmt::format("'data' must name exactly one of {}, not {}",
                                           fmt::join(names, ", "), given));
    }
    read_fields(in, data_fields(), data);
    in.finish();
}

std::vector<text::Key> data_keys() {
    std::vector<text::Key> keys = described(source_fields());
    const std::vector<text::Key> more = described(data_fields());
    keys.insert(keys.end(), more.begin(), more.end());
    return keys;
}

/// A number of steps or batches that needs data to evaluate on. Precondition: `data` has been read.
void read_evaluation(MappingReader& in, std::string_view key, const RunOptions& run,
                     std::optional<std::int64_t>& out) {
    std::int64_t value = 0;
    if (in.whole(key, value, 1, kMostSteps)) out = value;
    if (in.has(key) && run.data.eval.empty())
        in.complain(key, fmt::format("'{}' needs evaluation data: give 'data.eval'", key));
}

void read_eval_interval(MappingReader& in, std::string_view key, Draft& draft) {
    RunOptions& run = draft.scenario.training.run;
    read_evaluation(in, key, run, run.eval_interval);
}

void read_eval_iters(MappingReader& in, std::string_view key, Draft& draft) {
    RunOptions& run = draft.scenario.training.run;
    read_evaluation(in, key, run, run.eval_iters);
}

/// The options of Torch's GradScaler and Colossal-AI's DynamicGradScaler.
const Fields<LossScaleOptions>& loss_scale_fields() {
    static const Fields<LossScaleOptions> kFields{
        {"initial_scale", real(&LossScaleOptions::initial_scale, 1e-18, kHuge),
         "The initial loss scale.", "4096"},
        {"min_scale", real(&LossScaleOptions::min_scale, 1e-18, kHuge), "The minimum loss scale.",
         "128", "1, or initial_scale if that is smaller"},
        {"max_scale", real(&LossScaleOptions::max_scale, 1e-18, kHuge), "The maximum loss scale.",
         "4294967296", "no limit"},
        {"growth_factor", real(&LossScaleOptions::growth_factor, 1, 1e6),
         "The factor by which the scale grows.", "2"},
        {"backoff_factor", real(&LossScaleOptions::backoff_factor, 1e-6, 1),
         "The factor by which the scale shrinks after an overflow.", "0.5"},
        {"growth_interval", whole(&LossScaleOptions::growth_interval, 1, kMostSteps, "steps"),
         "The number of consecutive steps without overflow before the scale grows.", "1000"},
        {"hysteresis", whole(&LossScaleOptions::hysteresis, 1, 1'000'000, "overflows"),
         "The number of overflows before the scale shrinks.", "2"}};
    return kFields;
}

/// Precondition: the precision has been read.
void read_loss_scale(MappingReader& training, std::string_view key, Draft& draft) {
    const bool scales = draft.scenario.training.precision.loss_scaling;
    LossScaleOptions options;
    if (const NodePtr map = training.value(key)) {
        MappingReader in(map, key, draft.mistakes());
        read_fields(in, loss_scale_fields(), options);
        in.finish();
        if (!in.has("min_scale"))
            options.min_scale = std::min(options.min_scale, options.initial_scale);
        if (!scales)
            training.complain(key,
                              "'loss_scale' is for fp16; this precision needs no loss scaling");
        if (options.min_scale > options.initial_scale)
            in.complain("min_scale",
                        fmt::format("'loss_scale.min_scale' is {}, above the initial scale of {}",
                                    options.min_scale, options.initial_scale));
        if (options.max_scale && *options.max_scale < options.initial_scale)
            in.complain("max_scale",
                        fmt::format("'loss_scale.max_scale' is {}, below the initial scale of {}",
                                    *options.max_scale, options.initial_scale));
    }
    if (scales) draft.scenario.training.run.loss_scale = options;
}

const Fields<CheckpointOptions>& checkpoint_fields() {
    static const Fields<CheckpointOptions> kFields{
        // Output of a run goes where the program runs, not to the folder of its input.
        {"dir", required(narrowed(free_text(&CheckpointOptions::dir), Form{text::PathForm{}})),
         "The checkpoint folder, relative to the working directory.", "out/mine"},
        {"every", whole(&CheckpointOptions::every, 1, kMostSteps, "steps"),
         "The number of steps between checkpoints.", "100", "only one, at the end"},
        {"keep", whole(&CheckpointOptions::keep, 1, 1'000'000, "checkpoints"),
         "The number of latest checkpoints to keep.", "3", "all"}};
    return kFields;
}

void read_checkpoint(MappingReader& training, std::string_view key, Draft& draft) {
    const NodePtr map = training.value(key);
    if (!map) return;
    MappingReader in(map, key, draft.mistakes());
    CheckpointOptions checkpoint;
    read_fields(in, checkpoint_fields(), checkpoint);
    in.finish();
    if (in.has("dir")) draft.scenario.training.run.checkpoint = std::move(checkpoint);
}

/// Precondition: `steps` has been read.
void read_epochs(MappingReader& in, std::string_view key, Draft& draft) {
    std::int64_t value = 0;
    if (in.whole(key, value, 1, kMostSteps)) draft.scenario.training.run.epochs = value;
    if (in.has("steps") && in.has(key)) in.complain(key, "give either 'steps' or 'epochs'");
}

/// Precondition: `steps` and `epochs` have been read.
void read_tokens(MappingReader& in, std::string_view key, Draft& draft) {
    std::int64_t value = 0;
    if (in.count(key, value)) draft.scenario.training.run.tokens = value;
    for (const std::string_view other : {"steps", "epochs"})
        if (in.has(other) && in.has(key))
            in.complain(key, fmt::format("give either '{}' or '{}'", other, key));
}

void read_init_from(MappingReader& in, std::string_view key, Draft& draft) {
    path(&RunOptions::init_from).read(in, key, draft.scenario.training.run);
}

void read_clip_norm(MappingReader& in, std::string_view key, Draft& draft) {
    double value = 0;
    if (!in.real(key, value, 0, kHuge)) return;
    draft.scenario.training.run.clip_norm = value;
    if (value == 0)
        in.complain(key, "'clip_norm' is 0, which would set every gradient to 0; omit it");
}

}  // namespace

const Fields<Draft>& run_fields() {
    static const Form steps{text::WholeForm{1, kMostSteps, "steps"}};
    static const Fields<Draft> kFields{
        {"steps", whole(in_run(&RunOptions::steps), 1, kMostSteps, "steps"),
         "The total number of training steps.", "200", "given by epochs"},
        {"epochs", custom(read_epochs, {Form{text::WholeForm{1, kMostSteps, "epochs"}}}),
         "The number of passes over the data, instead of steps.", "3", "given by steps"},
        {"tokens", custom(read_tokens, {Form{text::QuantityForm{text::Quantity::Count}}}),
         "The total number of training tokens, instead of steps: the training's days, cost and "
         "energy are predicted (reliability, price, energy).",
         "15T", "given by steps"},
        {"seed", whole(in_run(&RunOptions::seed), 0, std::numeric_limits<std::int64_t>::max()),
         "The random seed of initial weights, dropout and shuffling.", "42"},
        {"init_from", custom(read_init_from, {Form{text::PathForm{}}}),
         "A folder in Hugging Face's layout or a checkpoint with the initial weights.", "gpt2-hf/",
         "random weights"},
        {"clip_norm", custom(read_clip_norm, {Form{text::RealForm{0, kHuge, {}}}}),
         "The maximum global gradient norm; above 0.", "1.0", "no clipping"},
        {"optimizer", custom(read_optimizer, optimizer_forms()),
         "The optimizer, with PyTorch's options and defaults.",
         "{name: adamw, lr: 3e-4, weight_decay: 0.1}", "adamw"},
        {"lr_schedule", custom(read_lr_schedule, lr_schedule_forms()),
         "The learning rate schedule.", "{name: cosine, warmup_steps: 100}", "constant"},
        {"data", custom(read_data_source, {Form{text::MapForm{data_keys()}}}),
         "The training data: one of tokens, text, jsonl and images.", "{text: tales.txt}",
         "none: required for a run"},
        {"eval_interval", custom(read_eval_interval, {steps}),
         "The number of steps between evaluations of data.eval.", "100", "only one, at the end"},
        {"eval_iters",
         custom(read_eval_iters, {Form{text::WholeForm{1, kMostSteps, "global batches"}}}),
         "The number of global batches per evaluation.", "10", "all of data.eval"},
        {"loss_scale",
         custom(read_loss_scale, {Form{text::MapForm{described(loss_scale_fields())}}}),
         "Loss scaling for fp16: the options of PyTorch's GradScaler.", "{initial_scale: 4096}",
         "PyTorch's values for fp16, else none"},
        {"checkpoint",
         custom(read_checkpoint, {Form{text::MapForm{described(checkpoint_fields())}}}),
         "Checkpoint saving.", "{dir: out/mine, every: 100}", "no checkpoints"}};
    return kFields;
}

}  // namespace debubble::scenarios
