#include <algorithm>

#include <benchmark/benchmark.h>
#include <QApplication>
#include <QFont>

#include "gui/viewmodel/timeline/pairing.h"
#include "gui/widgets/timeline/geometry.h"
#include "gui/widgets/timeline/paint_frame.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "sim/cost/abstract_cost_model.h"
#include "sim/engine/simulate.h"

/// The cost of a frame of the timeline, without a display: the figures of docs/benchmarks.md.
namespace debubble::gui {
namespace {

constexpr int kRanks = 64;
constexpr int kMicroBatches = 2632;  ///< a million spans: computes and both ends of messages

/// Memory that changes with every F and B, as in a training.
void add_memory(Trace& trace) {
    std::vector<std::int64_t> held(kRanks);
    for (const Span& span : trace.spans) {
        const auto* compute = std::get_if<Compute>(&span.action);
        if (compute == nullptr) continue;
        held[span.rank.index] += compute->pass == Pass::Forward ? 1 : -1;
        trace.memory.push_back({compute->pass == Pass::Forward ? span.begin : span.end,
                                Bytes{held[span.rank.index] << 28U}, span.rank,
                                MemoryClass::Activations});
    }
    std::ranges::stable_sort(trace.memory, {},
                             [](const MemorySample& s) { return std::pair(s.rank, s.at); });
}

const Trace& million_spans() {
    static const Trace trace = [] {
        PipelineCosts costs = unit_costs(std::chrono::milliseconds(10));
        costs.link = std::chrono::milliseconds(1);
        const Program program = lower(generate("1f1b", {kRanks, 1, kMicroBatches, 1}), {});
        Trace made =
            sim::simulate(program, sim::AbstractCostModel(costs, 1), {.follow_memory = false})
                .trace;
        add_memory(made);
        return made;
    }();
    return trace;
}

const Document& document() {
    static const Document made = make_document(million_spans(), Bytes{17'000'000'000});
    return made;
}

void make_a_document(benchmark::State& state) {
    const Trace& trace = million_spans();
    const Statistics of_trace = statistics(trace);
    for (auto _ : state) benchmark::DoNotOptimize(make_document(trace, of_trace, std::nullopt));
    state.counters["spans"] = static_cast<double>(trace.spans.size());
}
BENCHMARK(make_a_document)->Unit(benchmark::kMillisecond);

void colour_a_document(benchmark::State& state) {
    const Document& of = document();
    for (auto _ : state) benchmark::DoNotOptimize(colour(*of, {}));
}
BENCHMARK(colour_a_document)->Unit(benchmark::kMillisecond);

void pair_two_documents(benchmark::State& state) {
    const Document& of = document();
    for (auto _ : state) benchmark::DoNotOptimize(pair(*of, *of));
}
BENCHMARK(pair_two_documents)->Unit(benchmark::kMillisecond);

/// Arguments: width and height in pixels, percent of scaling, mean width of a bar in sight (0: the
/// whole step). Every frame shows another place, as when a person pans.
void paint_a_frame(benchmark::State& state) {
    const double ratio = static_cast<double>(state.range(2)) / 100;
    const QSize pixels(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
    QImage image(pixels, QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    const Geometry geometry{pixels / ratio};

    Scene scene;
    scene.main = {document(), colour(*document(), {}), {}};
    ViewState view;
    view.rows.fold_alike = false;  // a row for each rank
    view.axis = TimeAxis(scene.range(), geometry.lanes_width());
    scene.layout =
        lay_out(*scene.main.document, view.rows, {.memory = true}, geometry.lanes_height());
    if (const auto wanted = static_cast<double>(state.range(3)); wanted > 0)
        view.axis.zoom(wanted / mean_width(scene.main.document->devices[32].work, view.axis),
                       geometry.lanes_width() / 2.0);
    Look look;
    look.font = QApplication::font();
    for (auto _ : state) {
        view.axis.pan(3);
        paint_frame(image, scene, view, look);
        benchmark::DoNotOptimize(image.constBits());
    }
    state.counters["rows"] = static_cast<double>(scene.layout.rows.size());
}
BENCHMARK(paint_a_frame)
    ->ArgNames({"width", "height", "percent", "bar"})
    ->Args({1920, 1080, 100, 0})
    ->Args({1920, 1080, 100, 2})
    ->Args({1920, 1080, 100, 30})
    ->Args({1920, 1080, 100, 300})
    ->Args({3840, 2160, 100, 0})
    ->Args({3840, 2160, 200, 0})
    ->Args({3840, 2160, 200, 30})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace debubble::gui

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    QApplication::setFont(QFont("DejaVu Sans", 9));
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
