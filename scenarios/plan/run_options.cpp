#include "scenarios/plan/run_options.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/overloaded.h"

namespace debubble::scenarios {

namespace {

/// The settings under one key of `training`.
class Section {
public:
    Section(std::map<std::string, std::string>& settings, std::string prefix)
        : settings_(settings), prefix_(std::move(prefix)) {}

    template <class T>
    void set(const char* key, const T& value) {
        settings_[prefix_ + key] = fmt::format("{}", value);
    }
    template <class T>
    void set(const char* key, const std::optional<T>& value) {
        if (value) set(key, *value);
    }
    void set(const char* key, const std::string& value) {
        if (!value.empty()) settings_[prefix_ + key] = value;
    }
    void set(const char* key, const std::vector<double>& values) {
        if (!values.empty())
            settings_[prefix_ + key] = fmt::format("[{}]", fmt::join(values, ", "));
    }

private:
    std::map<std::string, std::string>& settings_;
    std::string prefix_;
};

void set_optimizer(Section in, const OptimizerOptions& optimizer) {
    std::visit(Overloaded{[&](const AdamOptions& adam) {
                              in.set("name", std::string(adam.decoupled ? "adamw" : "adam"));
                              in.set("lr", adam.lr);
                              in.set("betas", std::vector{adam.beta1, adam.beta2});
                              in.set("eps", adam.eps);
                              in.set("weight_decay", adam.weight_decay);
                              in.set("weight_decay_of", std::string(word_of(adam.weight_decay_of)));
                          },
                          [&](const SgdOptions& sgd) {
                              in.set("name", std::string("sgd"));
                              in.set("lr", sgd.lr);
                              in.set("momentum", sgd.momentum);
                              in.set("weight_decay", sgd.weight_decay);
                              in.set("weight_decay_of", std::string(word_of(sgd.weight_decay_of)));
                          },
                          [&](const MuonOptions& muon) {
                              in.set("name", std::string("muon"));
                              in.set("lr", muon.lr);
                              in.set("momentum", muon.momentum);
                              in.set("weight_decay", muon.weight_decay);
                              in.set("weight_decay_of", std::string(word_of(muon.weight_decay_of)));
                              in.set("steps", muon.steps);
                              in.set("nesterov", muon.nesterov);
                              in.set("scale_mode", std::string(word_of(muon.scale_mode)));
                          }},
               optimizer);
}

void set_lr_schedule(Section in, const LrSchedule& schedule) {
    in.set("name", std::string(name_of(schedule.shape)));
    in.set("warmup_steps", schedule.warmup_steps);
    in.set("warmup_start_factor", schedule.warmup_start_factor);
    if (schedule.total_steps) in.set("total_steps", *schedule.total_steps);
    in.set("min_lr", schedule.min_lr);
}

void set_loss_scale(Section in, const LossScaleOptions& options) {
    in.set("initial_scale", options.initial_scale);
    in.set("min_scale", options.min_scale);
    in.set("max_scale", options.max_scale);
    in.set("growth_factor", options.growth_factor);
    in.set("backoff_factor", options.backoff_factor);
    in.set("growth_interval", options.growth_interval);
    in.set("hysteresis", options.hysteresis);
}

void set_data(Section in, const DataOptions& data) {
    if (!data.has_source()) return;
    in.set("tokens", data.tokens);
    in.set("text", data.text);
    in.set("jsonl", data.jsonl);
    in.set("images", data.images);
    in.set("eval", data.eval);
    in.set("tokenizer", data.tokenizer);
    in.set("cache", data.cache);
    in.set("shuffle", data.shuffle);
    in.set("pack", data.pack);
    in.set("pad_token", data.pad_token);
    in.set("end_of_text", data.end_of_text);
    in.set("ignore_index", data.ignore_index);
    in.set("mean", data.mean);
    in.set("std", data.deviation);
}

}  // namespace

double lr_of(const OptimizerOptions& optimizer) {
    return std::visit([](const auto& options) { return options.lr; }, optimizer);
}

WeightDecayOf weight_decay_of(const OptimizerOptions& optimizer) {
    return std::visit([](const auto& options) { return options.weight_decay_of; }, optimizer);
}

bool steps_matrices(const OptimizerOptions& optimizer) {
    return std::holds_alternative<MuonOptions>(optimizer);
}

int moments_of(const OptimizerOptions& optimizer) {
    return std::visit(Overloaded{[](const AdamOptions&) { return 2; },
                                 [](const SgdOptions& sgd) { return sgd.momentum > 0 ? 1 : 0; },
                                 [](const MuonOptions&) { return 1; }},
                      optimizer);
}

std::map<std::string, std::string> settings_of(const RunOptions& options) {
    std::map<std::string, std::string> settings;
    Section in(settings, "");
    in.set("steps", options.steps);
    in.set("epochs", options.epochs);
    in.set("tokens", options.tokens);
    in.set("seed", options.seed);
    in.set("init_from", options.init_from);
    in.set("clip_norm", options.clip_norm);
    in.set("eval_interval", options.eval_interval);
    in.set("eval_iters", options.eval_iters);
    set_optimizer({settings, "optimizer."}, options.optimizer);
    set_lr_schedule({settings, "lr_schedule."}, options.lr_schedule);
    if (options.loss_scale) set_loss_scale({settings, "loss_scale."}, *options.loss_scale);
    set_data({settings, "data."}, options.data);
    if (const auto& checkpoint = options.checkpoint) {
        Section of(settings, "checkpoint.");
        of.set("dir", checkpoint->dir);
        of.set("every", checkpoint->every);
        of.set("keep", checkpoint->keep);
    }
    return settings;
}

}  // namespace debubble::scenarios
