#include "exec/program/run/run_report.h"

#include <cmath>
#include <filesystem>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "sim/report/plan_json.h"

namespace debubble::exec {

namespace {

std::string duration_text(double s) {
    const auto whole = std::llround(s);
    if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
    if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} s", whole);
}

}  // namespace

std::string progress_line(const StepMetrics& metrics, const RunLength& length, double elapsed_s) {
    std::string line =
        fmt::format("step {}/{}  loss {:.4f}  grad norm {:.3g}  lr {:.3g}  {:.0f} tokens/s",
                    metrics.step, length.last_step, metrics.loss, metrics.grad_norm, metrics.lr,
                    length.tokens_per_step / metrics.seconds);
    if (length.step_s_at_peak)
        line += fmt::format("  MFU {:.1f} %", 100 * *length.step_s_at_peak / metrics.seconds);
    if (metrics.routers) line += fmt::format("  load {:.2f}", metrics.routers->load);
    if (metrics.skipped)
        line += fmt::format("  skipped: overflow at a loss scale of {:.6g}", metrics.loss_scale);
    if (metrics.rolled_back && !metrics.skipped) line += "  stepped again, clipped";
    const std::int64_t left = length.last_step - metrics.step;
    const double pace = elapsed_s / static_cast<double>(metrics.step - length.first_step);
    if (left > 0) line += fmt::format("  {} left", duration_text(static_cast<double>(left) * pace));
    return line;
}

std::string metrics_header(const scenarios::Scenario& scenario, const RunLength& length) {
    nlohmann::ordered_json json = sim::schema_json("metrics");
    json["plan"] = sim::plan_json(scenario);
    json.update({{"scenario", scenario.name},
                 {"first_step", length.first_step + 1},
                 {"last_step", length.last_step}});
    return json.dump();
}

std::string metrics_line(const StepMetrics& metrics, const RunLength& length) {
    nlohmann::ordered_json json{
        {"step", metrics.step},
        {"loss", metrics.loss},
        {"grad_norm", std::isfinite(metrics.grad_norm) ? nlohmann::ordered_json(metrics.grad_norm)
                                                       : nlohmann::ordered_json(nullptr)},
        {"lr", metrics.lr},
        {"tokens_per_s", length.tokens_per_step / metrics.seconds},
        {"step_time_s", metrics.seconds},
        {"loss_scale", metrics.loss_scale},
        {"skipped", metrics.skipped}};
    if (metrics.routers) {
        json["expert_load"] = metrics.routers->load;
        json["aux_loss"] = metrics.routers->aux_loss;
        json["z_loss"] = metrics.routers->z_loss;
    }
    if (metrics.mtp_loss) json["mtp_loss"] = *metrics.mtp_loss;
    if (length.step_s_at_peak) json["mfu"] = *length.step_s_at_peak / metrics.seconds;
    return json.dump();
}

std::string progress_line(const Evaluation& evaluation) {
    std::string line =
        fmt::format("evaluation after step {}: loss {:.4f}", evaluation.step, evaluation.loss);
    if (evaluation.accuracy) line += fmt::format(", {:.1f} % right", 100 * *evaluation.accuracy);
    return line +
           fmt::format(", over {} targets in {:.2g} s", evaluation.targets, evaluation.seconds);
}

/// The keys are those of Hugging Face's Trainer.
std::string metrics_line(const Evaluation& evaluation) {
    nlohmann::ordered_json json{{"step", evaluation.step}, {"eval_loss", evaluation.loss}};
    if (evaluation.accuracy) json["eval_accuracy"] = *evaluation.accuracy;
    json["eval_targets"] = evaluation.targets;
    json["eval_runtime"] = evaluation.seconds;
    return json.dump();
}

Progress::Progress(const RunLength& length, std::FILE* out, bool rewrites,
                   const std::string& metrics, const std::string& header)
    : length_(length),
      out_(out),
      on_terminal_(rewrites && ::isatty(::fileno(out)) != 0),
      path_(metrics) {
    if (metrics.empty()) return;
    metrics_.open(metrics, length.first_step > 0 ? std::ios::app : std::ios::trunc);
    if (!metrics_) throw WorldError(fmt::format("{} cannot be written", metrics));
    keep(header);
}

Progress::~Progress() {
    if (line_is_open_) fmt::print(out_, "\n");
    std::fflush(out_);
}

void Progress::show(const StepMetrics& metrics) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    const std::string line = progress_line(metrics, length_, elapsed.count());
    fmt::print(out_, "{}{}{}", on_terminal_ ? "\r\033[K" : "", line, on_terminal_ ? "" : "\n");
    std::fflush(out_);
    line_is_open_ = on_terminal_;
    keep(metrics_line(metrics, length_));
}

void Progress::show(const Evaluation& evaluation) {
    fmt::print(out_, "{}{}\n", line_is_open_ ? "\n" : "", progress_line(evaluation));
    std::fflush(out_);
    line_is_open_ = false;
    keep(metrics_line(evaluation));
}

void Progress::keep(const std::string& metrics) {
    if (path_.empty()) return;
    metrics_ << metrics << std::endl;
    if (!metrics_) throw WorldError(fmt::format("{} cannot be written", path_));
}

}  // namespace debubble::exec
