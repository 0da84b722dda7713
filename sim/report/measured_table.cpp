#include "sim/report/measured_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "text/csv_row.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kMostSteps = 100'000;

/// The facts that a published table leaves to its text.
struct TableProfile {
    std::string_view file;   ///< the file's name contains this
    std::string_view model;  ///< beginning of the `model` map
    std::string_view cluster;
    std::string_view framework;
    std::string_view training;  ///< further keys of `training`
    std::string_view parallel;  ///< further keys of `parallel`
    std::int64_t seq_length;
    std::int64_t vocab;
    bool recomputes;   ///< recomputes in full, if no column says otherwise; tflops_per_gpu counts
                       ///< it
    bool interleaves;  ///< interleaves an unstated number of chunks, if no column says otherwise
};
constexpr std::string_view kSelene = "dgx-a100-80gb";
constexpr std::string_view kMixed = "precision: fp16, attention: unfused";
constexpr std::string_view kMegatron = "{family: gpt2, dropout: 0.1";
constexpr std::array<TableProfile, 5> kTableProfiles{{
    // Megatron-DeepSpeed, 8 x A100 and 800 Gb/s per node.
    {"multi_node", kMegatron, "{base: dgx-a100-80gb, network: {nic_bandwidth: 100 Gb/s}}",
     "megatron-2021", kMixed, "", 2048, 51200, true, false},
    // Megatron-Core: all overlaps, including that of the pipeline's messages, which it has for
    // interleaved chunks only; distributed optimizer, sequence parallelism.
    {"h100", kMegatron, "hgx-h100", "megatron-2024",
     "precision: bf16, attention: flash, dropout: 0", "sequence: true, zero_stage: 1", 4096, 131072,
     false, true},
    // Korthikanti et al. 2022, arXiv:2205.05198, table 5.
    {"recompute", kMegatron, kSelene, "{base: megatron-2021, gradient_accumulation_fusion: true}",
     kMixed, "", 2048, 51200, true, false},
    // The tutorial on training parallelism in plain PyTorch, on two A40.
    {"a40", "{family: llama", "a40-pair", "pytorch-eager", "precision: pure-bf16, attention: flash",
     "", 256, 50257, false, false},
    // Narayanan et al., SC'21, arXiv:2104.04473, table 1.
    {"", kMegatron, kSelene, "megatron-2021", kMixed, "", 2048, 51200, true, false},
}};

const TableProfile& profile_of(const std::string& file) {
    const std::string name = std::filesystem::path(file).filename().string();
    return *std::ranges::find_if(kTableProfiles, [&](const TableProfile& h) {
        return name.find(h.file) != std::string::npos;
    });
}

/// A row and where it stands in its file.
struct TableRow {
    std::vector<std::string> fields;
    SourceLocation where;
    std::string text;
};

Diagnostic mistake_at(const TableRow& row, std::string sentence) {
    return {row.where, std::move(sentence), row.text};
}

/// One row by column name; complains about cells that are not numbers.
class Cells {
public:
    Cells(const TableRow& header, const TableRow& row, std::vector<Diagnostic>& mistakes)
        : header_(header), row_(row), mistakes_(mistakes) {
        for (std::size_t i = 0; i < header.fields.size() && i < row.fields.size(); ++i)
            cells_[header.fields[i]] = row.fields[i];
    }

    bool has(const std::string& column) const {
        const auto at = cells_.find(column);
        return at != cells_.end() && !at->second.empty();
    }
    std::string text(const std::string& column, const std::string& otherwise) const {
        return has(column) ? cells_.at(column) : otherwise;
    }
    double number(const std::string& column, double otherwise) const {
        if (!has(column)) return otherwise;
        const std::string& cell = cells_.at(column);
        double value = 0;
        const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
        if (error != std::errc{} || end != cell.data() + cell.size() || !(value > 0) ||
            value > 1e15) {
            complain(
                fmt::format("'{}' is not a positive number, which '{}' must be", cell, column));
            return otherwise;
        }
        return value;
    }
    std::int64_t whole(const std::string& column, std::int64_t otherwise) const {
        const double value = number(column, static_cast<double>(otherwise));
        if (value == std::floor(value) && value < 1e9) return static_cast<std::int64_t>(value);
        complain(fmt::format("'{}' must be a whole number below a billion", column));
        return otherwise;
    }
    /// A column that the table lacks is a mistake of its header, and one mistake for all rows.
    void demand(const std::string& column) const {
        if (has(column)) return;
        if (std::ranges::find(header_.fields, column) != header_.fields.end())
            return complain(fmt::format("'{}' is missing", column));
        Diagnostic lacks = mistake_at(header_, fmt::format("the table has no column '{}'", column));
        if (std::ranges::find(mistakes_, lacks) == mistakes_.end())
            mistakes_.push_back(std::move(lacks));
    }

private:
    void complain(std::string sentence) const {
        mistakes_.push_back(mistake_at(row_, std::move(sentence)));
    }
    const TableRow& header_;
    const TableRow& row_;
    std::map<std::string, std::string> cells_;
    std::vector<Diagnostic>& mistakes_;
};

/// The numbers of a row, whatever names its table uses for them.
struct Shape {
    std::int64_t gpus, batch, hidden, heads, layers, seq_length, vocab;
    std::int64_t tensor, pipeline, data, chunks, ffn;
    int zero_stage;
    std::string recompute;  ///< none, selective, full
    bool sequence_parallel;
};

/// Reads the strategy words of the plain PyTorch table.
void follow_strategy(Shape& shape, const Cells& cells) {
    const std::string strategy = cells.text("strategy", "single");
    shape.zero_stage = strategy == "zero1" ? 1 : strategy == "fsdp" ? 3 : 0;
    if (strategy == "tp2+sp") {
        shape.tensor = 2;
        shape.data = 1;
        shape.sequence_parallel = true;
    }
    shape.batch = cells.whole("batch_per_gpu", 1) * shape.data;
}

Shape shape_of(const Cells& cells, const TableProfile& profile) {
    Shape shape{};
    shape.gpus = cells.whole("gpus", 1);
    shape.batch = cells.whole("global_batch", 1);
    shape.hidden = cells.whole("hidden", 1);
    shape.heads = cells.whole("heads", 1);
    shape.layers = cells.whole("layers", 1);
    shape.seq_length = cells.whole("seq_length", profile.seq_length);
    shape.vocab = cells.whole("vocab", profile.vocab);
    shape.tensor = cells.whole("tensor", 1);
    shape.pipeline = cells.whole("pipeline", 1);
    shape.data = cells.whole(
        "data", std::max<std::int64_t>(1, shape.gpus / (shape.tensor * shape.pipeline)));
    shape.chunks = cells.whole("virtual_stages", 1);
    shape.ffn = static_cast<std::int64_t>(cells.number("ffn_multiplier", 4) *
                                          static_cast<double>(shape.hidden));
    shape.zero_stage = -1;
    shape.recompute = cells.text("recompute", profile.recomputes ? "full" : "none");
    shape.sequence_parallel = cells.text("sequence_parallel", "false") == "true";
    if (cells.has("strategy")) follow_strategy(shape, cells);
    return shape;
}

/// FLOPs of a step as the Megatron papers count them (arXiv:2104.04473, section 5.1:
/// 96 B s l h^2 (1 + s/6h + V/16lh) with full recomputation, 72 ... V/12lh without).
double step_flops(const Shape& shape, bool recomputed) {
    const auto h = static_cast<double>(shape.hidden);
    const auto s = static_cast<double>(shape.seq_length);
    const double tokens = static_cast<double>(shape.batch) * s;
    const double layers = static_cast<double>(shape.layers) * h * h * (1 + s / (6 * h));
    const double head = 6 * h * static_cast<double>(shape.vocab);
    return tokens * ((recomputed ? 96 : 72) * layers + head);
}

std::string scenario_text(const Shape& shape, const TableProfile& profile,
                          const MeasuredOptions& options, std::int64_t micro_batch,
                          std::int64_t chunks) {
    std::string schedule = "1f1b";
    if (chunks > 1)
        schedule = fmt::format("{{name: interleaved-1f1b, stages_per_rank: {}}}", chunks);
    const auto more = [](std::string_view keys) {
        return keys.empty() ? std::string() : fmt::format(", {}", keys);
    };
    std::string parallel(profile.parallel);
    if (shape.zero_stage >= 0) parallel = fmt::format("zero_stage: {}", shape.zero_stage);
    return fmt::format(
        "model: {}, layers: {}, hidden: {}, heads: {}, ffn: {}, vocab: {}, max_positions: {}}}\n"
        "cluster: {}\ngpus: {}\n"
        "parallel: {{tensor: {}, pipeline: {}, data: {}{}{}}}\n"
        "schedule: {}\n"
        "training: {{global_batch: {}, micro_batch: {}, seq_length: {}, recompute: {}{}}}\n"
        "framework: {}\n",
        profile.model, shape.layers, shape.hidden, shape.heads, shape.ffn, shape.vocab,
        shape.seq_length, options.cluster.value_or(std::string(profile.cluster)), shape.gpus,
        shape.tensor, shape.pipeline, shape.data, shape.sequence_parallel ? ", sequence: true" : "",
        more(parallel), schedule, shape.batch, micro_batch, shape.seq_length, shape.recompute,
        more(profile.training), options.framework.value_or(std::string(profile.framework)));
}

double measured_seconds(const Cells& cells, const Shape& shape, const TableProfile& profile) {
    if (cells.has("iteration_ms")) return cells.number("iteration_ms", 1) * 1e-3;
    if (cells.has("iteration_s")) return cells.number("iteration_s", 1);
    if (cells.has("seconds_for_all_updates"))
        return cells.number("seconds_for_all_updates", 1) / cells.number("updates", 1);
    cells.demand("tflops_per_gpu");
    const double flops = step_flops(shape, profile.recomputes);
    return flops / (cells.number("tflops_per_gpu", 1) * 1e12 * static_cast<double>(shape.gpus));
}

/// The numbers of chunks per rank that a row may stand for: all that divide its layers, where its
/// table interleaves without a stated number.
std::vector<std::int64_t> chunks_of(const Shape& shape, const Cells& cells,
                                    const TableProfile& profile) {
    if (!profile.interleaves || shape.pipeline == 1 || cells.has("virtual_stages"))
        return {shape.chunks};
    const std::int64_t layers = shape.layers / shape.pipeline;
    std::vector<std::int64_t> all;
    for (std::int64_t chunks = 1; chunks <= layers; ++chunks)
        if (layers % chunks == 0) all.push_back(chunks);
    return all;
}

MeasuredStep step_of(const Cells& cells, const TableProfile& profile,
                     const MeasuredOptions& options) {
    for (const char* column : {"gpus", "hidden", "heads", "layers"}) cells.demand(column);
    cells.demand(cells.has("batch_per_gpu") ? "batch_per_gpu" : "global_batch");
    const Shape shape = shape_of(cells, profile);
    MeasuredStep step;
    step.seconds = measured_seconds(cells, shape, profile);
    step.work = step_flops(shape, shape.recompute == "full") / static_cast<double>(shape.gpus);
    step.tensor = static_cast<int>(shape.tensor);
    step.pipeline = static_cast<int>(shape.pipeline);
    step.label = fmt::format("h{} L{} t{} p{} d{} {}", shape.hidden, shape.layers, shape.tensor,
                             shape.pipeline, shape.data, cells.text("recompute", ""));
    std::vector<std::int64_t> micro_batches{1, 2, 4, 8};
    if (cells.has("batch_per_gpu") || cells.has("micro_batch")) {
        micro_batches = {
            cells.whole(cells.has("micro_batch") ? "micro_batch" : "batch_per_gpu", 1)};
        step.label += fmt::format("mb{}", micro_batches.front());
    }
    for (const std::int64_t micro_batch : micro_batches)
        if (micro_batches.size() == 1 || shape.batch % (shape.data * micro_batch) == 0)
            for (const std::int64_t chunks : chunks_of(shape, cells, profile))
                step.scenarios.push_back(
                    scenario_text(shape, profile, options, micro_batch, chunks));
    return step;
}

std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

/// The next row; nothing if it has no end.
std::optional<TableRow> take_row(std::string_view& rest, const std::string& file, int line) {
    std::string line_text = first_line(rest);
    auto fields = text::take_csv_row(rest);
    if (!fields) return std::nullopt;
    return TableRow{std::move(*fields), {file, line, 1}, std::move(line_text)};
}

}  // namespace

MeasuredTable read_measured(const std::string& text, const std::string& file,
                            const MeasuredOptions& options) {
    const TableProfile& profile = profile_of(file);
    std::string ended = text;  // the last line may lack its end
    if (!ended.empty() && ended.back() != '\n') ended += '\n';
    std::string_view rest = ended;
    const auto header = take_row(rest, file, 1);
    if (!header) throw InputError({{{file, 0, 0}, "there is no header row", {}}});

    MeasuredTable table{std::filesystem::path(file).stem().string(), {}};
    std::vector<Diagnostic> mistakes;
    for (int line = 2; !rest.empty(); ++line) {
        const auto row = take_row(rest, file, line);
        if (!row || table.steps.size() >= kMostSteps) {
            mistakes.push_back({{file, line, 1},
                                "the table ends in the middle of a row here, or has too many rows",
                                row ? row->text : first_line(rest)});
            break;
        }
        if (row->fields.size() == 1 && row->fields.front().empty()) continue;
        const Cells cells(*header, *row, mistakes);
        if (cells.has("updates") != cells.has("seconds_for_all_updates") ||
            (cells.has("strategy") && !cells.has("updates")))
            continue;  // only memory was measured, not time
        MeasuredStep step = step_of(cells, profile, options);
        step.line = line;
        table.steps.push_back(std::move(step));
    }
    if (!mistakes.empty()) throw InputError(std::move(mistakes));
    return table;
}

}  // namespace debubble::sim
