#include <algorithm>
#include <array>
#include <limits>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/draft.h"
#include "text/quantity.h"

/// The keys that a simulation does not need. They are checked here all the same, so that a run does
/// not fail after an hour.
namespace debubble::scenarios {
namespace {

using text::MappingReader;
using text::Node;
using text::NodePtr;

constexpr double kHuge = 1e18;
constexpr std::int64_t kMostSteps = 1'000'000'000'000;
constexpr int kMostTokens = 1'000'000'000;

enum class OptimizerName { AdamW, Adam, Sgd };
constexpr std::pair<std::string_view, OptimizerName> kOptimizerNames[] = {
    {"adamw", OptimizerName::AdamW}, {"adam", OptimizerName::Adam}, {"sgd", OptimizerName::Sgd}};
constexpr std::pair<std::string_view, LrSchedule::Shape> kLrSchedules[] = {
    {"constant", LrSchedule::Shape::Constant},
    {"linear", LrSchedule::Shape::Linear},
    {"cosine", LrSchedule::Shape::Cosine}};

void read_whole(MappingReader& in, std::string_view key, std::optional<std::int64_t>& out,
                std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    if (in.whole(key, value, least, most)) out = value;
}

void read_real(MappingReader& in, std::string_view key, std::optional<double>& out, double least,
               double most) {
    double value = 0;
    if (in.real(key, value, least, most)) out = value;
}

/// A path, relative to the folder where the program runs.
void read_path(MappingReader& in, std::string_view key, std::string& out) {
    std::string value;
    if (in.text(key, value)) out = text::seen_from(in.value(key)->place, value).string();
}

/// A name, or a map with a name: both become the map.
NodePtr long_form(const NodePtr& value) {
    if (!value || !value->is(Node::Kind::Scalar)) return value;
    return text::make_map({{"name", value->place, value}}, value->place);
}

void refuse(MappingReader& in, std::string_view key, std::string sentence) {
    if (in.value(key)) in.complain(key, std::move(sentence));
}

void read_betas(MappingReader& in, AdamOptions& adam) {
    const NodePtr list = in.value("betas");
    if (!list) return;
    std::vector<double> betas;
    for (const NodePtr& item : list->items) {
        const auto beta = text::parse_real(item->scalar);
        if (beta && *beta >= 0 && *beta < 1) betas.push_back(*beta);
    }
    if (betas.size() != 2 || list->items.size() != 2) {
        in.complain("betas", "'betas' must be two numbers from 0 to below 1");
        return;
    }
    adam.beta1 = betas[0];
    adam.beta2 = betas[1];
}

SgdOptions read_sgd(MappingReader& in) {
    SgdOptions sgd;
    in.real("lr", sgd.lr, 0, kHuge);
    in.real("momentum", sgd.momentum, 0, 1);
    in.real("weight_decay", sgd.weight_decay, 0, kHuge);
    for (const std::string_view key : {"betas", "eps"})
        refuse(in, key,
               fmt::format("'optimizer.{}' is a key of adam and adamw; the optimizer is sgd", key));
    return sgd;
}

AdamOptions read_adam(MappingReader& in, OptimizerName name) {
    AdamOptions adam = name == OptimizerName::AdamW ? kAdamW : AdamOptions{};
    in.real("lr", adam.lr, 0, kHuge);
    in.real("eps", adam.eps, 0, 1);
    in.real("weight_decay", adam.weight_decay, 0, kHuge);
    read_betas(in, adam);
    return adam;
}

void read_optimizer(Draft& draft) {
    const NodePtr map = long_form(draft.training.value("optimizer"));
    if (!map) return;
    MappingReader in(map, "optimizer", draft.mistakes());
    OptimizerName name = OptimizerName::AdamW;
    const bool is_known = in.word("name", name, kOptimizerNames, "optimizer") || !in.has("name");
    OptimizerOptions& optimizer = draft.scenario.training.run.optimizer;
    if (name == OptimizerName::Sgd) {
        optimizer = read_sgd(in);
    } else {
        optimizer = read_adam(in, name);
        if (in.value("momentum") && is_known)
            in.complain("momentum",
                        fmt::format("'optimizer.momentum' is a key of sgd; the optimizer is {}",
                                    name == OptimizerName::AdamW ? "adamw" : "adam"));
    }
    in.finish();
}

/// Precondition: `steps` and the optimizer have been read. Without `steps` and `total_steps`, only
/// the run knows where the rate ends.
void read_lr_schedule(Draft& draft) {
    const NodePtr map = long_form(draft.training.value("lr_schedule"));
    if (!map) return;
    const RunOptions& run = draft.scenario.training.run;
    LrSchedule& schedule = draft.scenario.training.run.lr_schedule;
    MappingReader in(map, "lr_schedule", draft.mistakes());
    in.demand("name");
    in.word("name", schedule.shape, kLrSchedules, "lr_schedule");
    in.whole("warmup_steps", schedule.warmup_steps, 0, kMostSteps);
    in.real("warmup_start_factor", schedule.warmup_start_factor, 0, 1);
    in.whole("total_steps", schedule.total_steps, 1, kMostSteps);
    in.real("min_lr", schedule.min_lr, 0, kHuge);
    in.finish();
    const double lr = lr_of(run.optimizer);
    if (schedule.min_lr > lr)
        in.complain("min_lr", fmt::format("'lr_schedule.min_lr' is {}, above 'optimizer.lr', which "
                                          "is {}",
                                          schedule.min_lr, lr));
    if (schedule.shape == LrSchedule::Shape::Constant)
        refuse(in, "min_lr",
               "'lr_schedule.min_lr' is a key of linear and cosine; the schedule is constant");
    LrSchedule ended = schedule;
    if (ended.total_steps == 0) ended.total_steps = run.steps.value_or(0);
    if (ended.total_steps == 0) return;
    if (const auto reason = why_no_warmup(ended)) in.complain("warmup_steps", *reason);
}

/// A number, or one for each channel of an image.
void read_per_channel(MappingReader& in, std::string_view key, double least,
                      std::vector<double>& out) {
    const NodePtr value = in.value(key);
    if (!value) return;
    const bool is_list = value->is(Node::Kind::List);
    std::vector<double> numbers;
    for (const NodePtr& item : is_list ? value->items : std::vector{value}) {
        const auto number = text::parse_real(item->scalar);
        if (number && *number >= least && *number <= 1e6) numbers.push_back(*number);
    }
    if (numbers.empty() || (is_list && numbers.size() != value->items.size()))
        in.complain(
            key, fmt::format("'{}' must be a number from {} to 1e+06, or one for each channel", key,
                             least));
    else
        out = std::move(numbers);
}

void read_data_source(Draft& draft) {
    const NodePtr map = draft.training.value("data");
    if (!map) return;
    DataOptions& data = draft.scenario.training.run.data;
    MappingReader in(map, "data", draft.mistakes());
    const std::array<std::pair<std::string_view, std::string*>, 4> sources{
        {{"tokens", &data.tokens},
         {"text", &data.text},
         {"jsonl", &data.jsonl},
         {"images", &data.images}}};
    for (const auto& [key, path] : sources) read_path(in, key, *path);
    const auto given =
        std::ranges::count_if(sources, [&](const auto& source) { return in.has(source.first); });
    if (given != 1)
        draft.training.complain(
            "data", fmt::format("'data' must name exactly one of {}, not {}",
                                fmt::join(sources | std::views::transform([](const auto& source) {
                                              return source.first;
                                          }),
                                          ", "),
                                given));
    read_path(in, "eval", data.eval);
    read_path(in, "tokenizer", data.tokenizer);
    read_path(in, "cache", data.cache);
    in.flag("shuffle", data.shuffle);
    in.flag("pack", data.pack);
    read_whole(in, "pad_token", data.pad_token, 0, kMostTokens);
    read_whole(in, "end_of_text", data.end_of_text, 0, kMostTokens);
    in.whole("ignore_index", data.ignore_index, -kMostTokens, kMostTokens);
    read_per_channel(in, "mean", 0, data.mean);
    read_per_channel(in, "std", 1e-6, data.deviation);
    in.finish();
}

/// Reads Megatron's words: evaluate after every so many steps, over so many global batches.
void read_evaluation(MappingReader& in, RunOptions& run) {
    const auto read = [&](std::string_view key, std::optional<std::int64_t>& out) {
        read_whole(in, key, out, 1, kMostSteps);
        if (in.has(key) && run.data.eval.empty())
            in.complain(key,
                        fmt::format("'{}' needs something to evaluate on: give 'data.eval'", key));
    };
    read("eval_interval", run.eval_interval);
    read("eval_iters", run.eval_iters);
}

/// Reads the options of Torch's GradScaler and Colossal-AI's DynamicGradScaler. Precondition: the
/// precision has been read.
void read_loss_scale(Draft& draft) {
    const bool scales = draft.scenario.training.precision.loss_scaling;
    LossScaleOptions options;
    if (const NodePtr map = draft.training.value("loss_scale")) {
        MappingReader in(map, "loss_scale", draft.mistakes());
        in.real("initial_scale", options.initial_scale, 1e-18, kHuge);
        options.min_scale = std::min(options.min_scale, options.initial_scale);
        in.real("min_scale", options.min_scale, 1e-18, kHuge);
        read_real(in, "max_scale", options.max_scale, 1e-18, kHuge);
        in.real("growth_factor", options.growth_factor, 1, 1e6);
        in.real("backoff_factor", options.backoff_factor, 1e-6, 1);
        in.whole("growth_interval", options.growth_interval, 1, kMostSteps);
        in.whole("hysteresis", options.hysteresis, 1, 1'000'000);
        in.finish();
        if (!scales)
            draft.training.complain(
                "loss_scale", "'loss_scale' is for fp16; this precision needs no loss scaling");
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

void read_checkpoint(Draft& draft) {
    const NodePtr map = draft.training.value("checkpoint");
    if (!map) return;
    MappingReader in(map, "checkpoint", draft.mistakes());
    CheckpointOptions checkpoint;
    in.demand("dir");
    // Output of a run goes where the program runs, not to the folder of its input.
    const bool is_named = in.text("dir", checkpoint.dir);
    read_whole(in, "every", checkpoint.every, 1, kMostSteps);
    in.whole("keep", checkpoint.keep, 1, 1'000'000);
    in.finish();
    if (is_named) draft.scenario.training.run.checkpoint = std::move(checkpoint);
}

}  // namespace

void read_run_keys(Draft& draft) {
    MappingReader& in = draft.training;
    RunOptions& run = draft.scenario.training.run;
    read_whole(in, "steps", run.steps, 1, kMostSteps);
    read_whole(in, "epochs", run.epochs, 1, kMostSteps);
    if (in.has("steps") && in.has("epochs"))
        in.complain("epochs", "give either 'steps' or 'epochs'");
    std::int64_t seed = 0;
    if (in.whole("seed", seed, 0, std::numeric_limits<std::int64_t>::max()))
        run.seed = static_cast<std::uint64_t>(seed);
    read_path(in, "init_from", run.init_from);
    read_real(in, "clip_norm", run.clip_norm, 0, kHuge);
    if (run.clip_norm == 0.0)
        in.complain("clip_norm",
                    "'clip_norm' is 0, which would make every gradient 0; leave it out");
    read_optimizer(draft);
    read_lr_schedule(draft);
    read_data_source(draft);
    read_evaluation(in, run);
    read_loss_scale(draft);
    read_checkpoint(draft);
}

}  // namespace debubble::scenarios
