#include "exec/core/training/training_options.h"

#include <cassert>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "text/quantity.h"

namespace debubble::exec {

namespace {

/// The checked text of each key as what it stands for, and what is wrong with them together.
struct RunKeys {
    const std::map<std::string, std::string>& keys;
    std::vector<Diagnostic> mistakes = {};

    bool has(const std::string& key) const { return keys.contains(key); }
    std::string text(const std::string& key) const { return has(key) ? keys.at(key) : ""; }
    std::optional<double> real(const std::string& key) const {
        return has(key) ? text::parse_real(keys.at(key)) : std::nullopt;
    }
    std::optional<std::int64_t> whole(const std::string& key) const {
        return has(key) ? text::parse_whole(keys.at(key)) : std::nullopt;
    }
    template <class T>
    void read(const std::string& key, T& value) const {
        if constexpr (std::is_floating_point_v<T>)
            value = real(key).value_or(value);
        else
            value = static_cast<T>(whole(key).value_or(value));
    }
    void complain(std::string sentence) { mistakes.push_back({{}, std::move(sentence), {}}); }
    void belongs_to(const char* key, const char* owner) {
        if (has(key)) complain(fmt::format("'{}' is a key of {}", key, owner));
    }
};

/// "[0.9, 0.99]", as the scenario's reader wrote it.
void read_betas(const RunKeys& keys, AdamOptions& adam) {
    const std::string text = keys.text("optimizer.betas");
    if (text.empty()) return;
    const std::size_t comma = text.find(", ");
    assert(comma != std::string::npos && "the scenario's reader writes two betas");
    adam.beta1 = text::parse_real(text.substr(1, comma - 1)).value_or(adam.beta1);
    adam.beta2 =
        text::parse_real(text.substr(comma + 2, text.size() - comma - 3)).value_or(adam.beta2);
}

OptimizerOptions read_optimizer(RunKeys& keys, const std::string& name) {
    if (name == "sgd") {
        keys.belongs_to("optimizer.betas", "adam and adamw; the optimizer is sgd");
        keys.belongs_to("optimizer.eps", "adam and adamw; the optimizer is sgd");
        SgdOptions sgd;
        keys.read("optimizer.lr", sgd.lr);
        keys.read("optimizer.momentum", sgd.momentum);
        keys.read("optimizer.weight_decay", sgd.weight_decay);
        return sgd;
    }
    if (keys.has("optimizer.momentum"))
        keys.complain(
            fmt::format("'optimizer.momentum' is a key of sgd; the optimizer is {}", name));
    AdamOptions adam;
    adam.decoupled = name == "adamw";
    adam.weight_decay = adam.decoupled ? 0.01 : 0;
    keys.read("optimizer.lr", adam.lr);
    keys.read("optimizer.eps", adam.eps);
    keys.read("optimizer.weight_decay", adam.weight_decay);
    read_betas(keys, adam);
    return adam;
}

LrSchedule read_lr_schedule(RunKeys& keys, double lr) {
    using Shape = LrSchedule::Shape;
    LrSchedule schedule;
    const std::string name = keys.text("lr_schedule.name");
    if (name == "linear") schedule.shape = Shape::Linear;
    if (name == "cosine") schedule.shape = Shape::Cosine;
    keys.read("lr_schedule.warmup_steps", schedule.warmup_steps);
    keys.read("lr_schedule.warmup_start_factor", schedule.warmup_start_factor);
    keys.read("lr_schedule.min_lr", schedule.min_lr);
    schedule.total_steps = keys.whole("lr_schedule.total_steps")
                               .value_or(keys.whole("steps").value_or(schedule.total_steps));
    if (schedule.min_lr > lr)
        keys.complain(fmt::format("'lr_schedule.min_lr' is {}, above 'optimizer.lr', which is {}",
                                  schedule.min_lr, lr));
    if (schedule.shape == Shape::Constant) {
        keys.belongs_to("lr_schedule.min_lr", "linear and cosine; the schedule is constant");
        return schedule;
    }
    if (schedule.total_steps == 0)
        keys.complain(
            fmt::format("a {} learning rate needs its end: give 'steps' or "
                        "'lr_schedule.total_steps'",
                        name));
    else if (schedule.warmup_steps >= schedule.total_steps)
        keys.complain(
            fmt::format("'lr_schedule.warmup_steps' is {}, but the schedule ends "
                        "after {} steps",
                        schedule.warmup_steps, schedule.total_steps));
    return schedule;
}

LossScaleOptions read_loss_scale(RunKeys& keys) {
    LossScaleOptions options;
    keys.read("loss_scale.initial_scale", options.initial_scale);
    keys.read("loss_scale.growth_factor", options.growth_factor);
    keys.read("loss_scale.backoff_factor", options.backoff_factor);
    keys.read("loss_scale.growth_interval", options.growth_interval);
    keys.read("loss_scale.hysteresis", options.hysteresis);
    options.min_scale = std::min(options.min_scale, options.initial_scale);
    keys.read("loss_scale.min_scale", options.min_scale);
    options.max_scale = keys.real("loss_scale.max_scale");
    if (options.min_scale > options.initial_scale)
        keys.complain(fmt::format("'loss_scale.min_scale' is {}, above the initial scale of {}",
                                  options.min_scale, options.initial_scale));
    if (options.max_scale && *options.max_scale < options.initial_scale)
        keys.complain(fmt::format("'loss_scale.max_scale' is {}, below the initial scale of {}",
                                  *options.max_scale, options.initial_scale));
    return options;
}

std::optional<CheckpointOptions> read_checkpoint(const RunKeys& keys) {
    if (!keys.has("checkpoint.dir")) return {};
    CheckpointOptions options{keys.text("checkpoint.dir"), keys.whole("checkpoint.every"), 0};
    keys.read("checkpoint.keep", options.keep);
    return options;
}

}  // namespace

double lr_of(const OptimizerOptions& optimizer) {
    return std::visit([](const auto& options) { return options.lr; }, optimizer);
}

int moments_of(const OptimizerOptions& optimizer) {
    if (std::holds_alternative<AdamOptions>(optimizer)) return 2;
    return std::get<SgdOptions>(optimizer).momentum > 0 ? 1 : 0;
}

TrainingOptions read_training_options(const scenarios::Scenario& scenario) {
    RunKeys keys{scenario.training.run_keys};
    TrainingOptions options;
    options.steps = keys.whole("steps");
    options.epochs = keys.whole("epochs");
    keys.read("seed", options.seed);
    options.init_from = keys.text("init_from");
    options.optimizer = read_optimizer(keys, scenario.training.optimizer);
    options.lr_schedule = read_lr_schedule(keys, lr_of(options.optimizer));
    options.clip_norm = keys.real("clip_norm");
    if (options.clip_norm == 0.0)
        keys.complain("'clip_norm' is 0, which would make every gradient 0; leave it out");
    if (scenario.training.precision.loss_scaling) options.loss_scale = read_loss_scale(keys);
    options.checkpoint = read_checkpoint(keys);
    options.eval_interval = keys.whole("eval_interval");
    options.eval_iters = keys.whole("eval_iters");
    if (!keys.mistakes.empty()) throw InputError(std::move(keys.mistakes));
    return options;
}

}  // namespace debubble::exec
