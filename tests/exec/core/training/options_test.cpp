#include "exec/core/training/training_options.h"

#include <gtest/gtest.h>

#include "tests/exec/support/training_job.h"

namespace debubble::exec {
namespace {

TrainingOptions read(const std::string& training, const std::string& precision = "fp32") {
    Layout layout{"{data: 1}"};
    layout.training = training;
    layout.precision = precision;
    return training_options(scenario_of(layout));
}

std::string refusal(const std::string& training, const std::string& precision = "fp32") {
    try {
        read(training, precision);
    } catch (const InputError& error) {
        std::string all;
        for (const Diagnostic& mistake : error.diagnostics()) all += mistake.message + '\n';
        return all;
    }
    return "accepted";
}

TEST(TrainingOptions, DefaultToPyTorchs) {
    const TrainingOptions options = read("");
    const auto adamw = std::get<AdamOptions>(options.optimizer);
    EXPECT_EQ(adamw.lr, 1e-3);
    EXPECT_EQ(adamw.beta1, 0.9);
    EXPECT_EQ(adamw.beta2, 0.999);
    EXPECT_EQ(adamw.eps, 1e-8);
    EXPECT_EQ(adamw.weight_decay, 0.01);
    EXPECT_TRUE(adamw.decoupled);
    EXPECT_EQ(options.lr_schedule, LrSchedule{});
    EXPECT_FALSE(options.clip_norm);
    EXPECT_FALSE(options.loss_scale);
    EXPECT_FALSE(options.checkpoint);
    EXPECT_EQ(std::get<AdamOptions>(read("optimizer: adam").optimizer).weight_decay, 0);
    EXPECT_EQ(moments_of(read("optimizer: sgd").optimizer), 0);
    EXPECT_EQ(read("", "fp16").loss_scale, LossScaleOptions{});
}

TEST(TrainingOptions, AreWhatTheScenarioSays) {
    const TrainingOptions options = read(R"(steps: 100
  clip_norm: 1.0
  optimizer: {name: adamw, lr: 2e-3, betas: [0.8, 0.99], eps: 1e-6, weight_decay: 0.1}
  lr_schedule: {name: cosine, warmup_steps: 10, warmup_start_factor: 0.1, min_lr: 1e-4}
  loss_scale: {initial_scale: 1024, min_scale: 2, max_scale: 4096, growth_factor: 4,
               backoff_factor: 0.25, growth_interval: 5, hysteresis: 3}
  checkpoint: {dir: /tmp/run, every: 10, keep: 2})",
                                         "fp16");
    const auto adamw = std::get<AdamOptions>(options.optimizer);
    EXPECT_EQ(adamw.lr, 2e-3);
    EXPECT_EQ(adamw.beta1, 0.8);
    EXPECT_EQ(adamw.beta2, 0.99);
    EXPECT_EQ(adamw.eps, 1e-6);
    EXPECT_EQ(adamw.weight_decay, 0.1);
    EXPECT_EQ(options.steps, 100);
    EXPECT_EQ(options.seed, 5U);
    EXPECT_EQ(options.clip_norm, 1.0);
    EXPECT_EQ(options.lr_schedule, (LrSchedule{LrSchedule::Shape::Cosine, 10, 0.1, 100, 1e-4}));
    EXPECT_EQ(options.loss_scale, (LossScaleOptions{1024, 2, 4096, 4, 0.25, 5, 3}));
    EXPECT_EQ(options.checkpoint, (CheckpointOptions{"/tmp/run", 10, 2}));
}

TEST(TrainingOptions, SayWhatDecays) {
    for (const std::string name : {"adamw", "adam", "sgd", "muon"}) {
        const auto decayed = [&](const std::string& more) {
            return weight_decay_of(read("optimizer: {name: " + name + more + "}").optimizer);
        };
        EXPECT_EQ(decayed(""), scenarios::WeightDecayOf::All) << name;
        EXPECT_EQ(decayed(", weight_decay_of: all"), scenarios::WeightDecayOf::All) << name;
        EXPECT_EQ(decayed(", weight_decay_of: matrices"), scenarios::WeightDecayOf::Matrices)
            << name;
        const TrainingOptions options =
            read("optimizer: {name: " + name + ", weight_decay_of: matrices}");
        EXPECT_EQ(settings_of(options).at("optimizer.weight_decay_of"), "matrices") << name;
    }
    EXPECT_EQ(refusal("optimizer: {weight_decay_of: matrix}"),
              "unknown weight_decay_of 'matrix'; known: all, matrices\n");
}

TEST(TrainingOptions, ListAllMistakesInWords) {
    EXPECT_EQ(refusal(R"(optimizer: {name: sgd, lr: 0.1, betas: [0.9, 0.99], eps: 1e-8}
  lr_schedule: {name: linear, min_lr: 0.2}
  clip_norm: 0)"),
              "'optimizer.betas' is a key of adam and adamw; the optimizer is sgd\n"
              "'optimizer.eps' is a key of adam and adamw; the optimizer is sgd\n"
              "'lr_schedule.min_lr' is 0.2, above 'optimizer.lr', which is 0.1\n"
              "'clip_norm' is 0, which would set every gradient to 0; omit it\n");
    EXPECT_EQ(refusal("lr_schedule: {name: linear}"),
              "a linear learning rate needs an end: give 'steps' or 'lr_schedule.total_steps'\n");
    EXPECT_EQ(refusal("optimizer: {name: adam, momentum: 0.9}"),
              "'optimizer.momentum' is a key of sgd; the optimizer is adam\n");
    EXPECT_EQ(refusal("steps: 10\n  lr_schedule: {name: cosine, warmup_steps: 10}"),
              "'lr_schedule.warmup_steps' is 10, but the schedule ends after 10 steps\n");
    EXPECT_EQ(refusal("lr_schedule: {name: constant, min_lr: 1e-6}"),
              "'lr_schedule.min_lr' is a key of linear and cosine; the schedule is constant\n");
    EXPECT_EQ(refusal("loss_scale: {initial_scale: 8, min_scale: 16, max_scale: 4}", "fp16"),
              "'loss_scale.min_scale' is 16, above the initial scale of 8\n"
              "'loss_scale.max_scale' is 4, below the initial scale of 8\n");
}

}  // namespace
}  // namespace debubble::exec
