#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>

#include <benchmark/benchmark.h>
#include <malloc.h>
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
constexpr int kMillion =
    2632;  ///< microbatches of a million spans: computes, both ends of messages
constexpr double kMostBytesPerSpan = 205;
bool failed = false;

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

Trace trace_of(int millions) {
    PipelineCosts costs = unit_costs(std::chrono::milliseconds(10));
    costs.link = std::chrono::milliseconds(1);
    const Program program = lower(generate("1f1b", {kRanks, 1, kMillion * millions, 1}), {});
    Trace made =
        sim::simulate(program, sim::AbstractCostModel(costs, 1), {.follow_memory = false}).trace;
    add_memory(made);
    made.spans.shrink_to_fit();
    made.memory.shrink_to_fit();
    return made;
}

const Document& document() {
    static const Document made = make_document(trace_of(1), Bytes{17'000'000'000});
    return made;
}

/// A value of /proc/self/status in bytes: VmRSS is what the process has, VmHWM the most it had.
double resident(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(key + ":")) return 1024 * std::stod(line.substr(key.size() + 1));
    return 0;
}

/// Gives freed memory back, so that what is resident is in use, and forgets the most that was.
double resident_now() {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";
    return resident("VmRSS");
}

/// The argument is millions of spans. A document takes its trace, as in the window: a copy for each
/// round is made outside of the time.
void make_a_document(benchmark::State& state) {
    const Trace trace = trace_of(static_cast<int>(state.range(0)));
    const Statistics of_trace = statistics(trace);
    for (auto _ : state) {
        state.PauseTiming();
        Trace taken = trace;
        Statistics its = of_trace;
        state.ResumeTiming();
        Document made = make_document(std::move(taken), std::move(its), std::nullopt);
        state.PauseTiming();
        made.reset();
        state.ResumeTiming();
    }
    state.counters["spans"] = static_cast<double>(trace.spans.size());
}
BENCHMARK(make_a_document)->Arg(1)->Arg(10)->Unit(benchmark::kMillisecond);

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

/// A frame of a document. `ratio` is pixels for each unit of the screen, `bar` the mean width of a
/// bar in sight (0: the whole step).
struct Frame {
    Frame(const Document& of, int width, int height, double ratio, double bar)
        : image(QSize(width, height), QImage::Format_RGB32) {
        image.setDevicePixelRatio(ratio);
        const Geometry geometry{QSize(width, height) / ratio};
        scene.main = {of, colour(*of, {}), {}};
        view.rows.fold_alike = false;  // a row for each rank
        view.axis = TimeAxis(scene.range(), geometry.lanes_width());
        scene.layout = lay_out(*of, view.rows, {.memory = true}, geometry.lanes_height());
        if (bar > 0)
            view.axis.zoom(bar / mean_width(of->devices[32].work, view.axis),
                           geometry.lanes_width() / 2.0);
        look.font = QApplication::font();
    }

    /// Every frame shows another place, as when a person pans.
    void paint() {
        view.axis.pan(3);
        paint_frame(image, scene, view, look);
        benchmark::DoNotOptimize(image.constBits());
    }

    QImage image;
    Scene scene;
    ViewState view;
    Look look;
};

/// Arguments: width and height in pixels, percent of scaling, mean width of a bar in sight.
void paint_a_frame(benchmark::State& state) {
    Frame frame(document(), static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                static_cast<double>(state.range(2)) / 100, static_cast<double>(state.range(3)));
    for (auto _ : state) frame.paint();
    state.counters["rows"] = static_cast<double>(frame.scene.layout.rows.size());
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

/// The most memory of a trace, its document and a frame, while the document is made and after: of
/// the process, so that no part is forgotten. The argument is millions of spans.
void bytes_per_span(benchmark::State& state) {
    const double before = resident_now();
    double trace_bytes = 0;
    double with_statistics = 0;
    double peak = 0;
    double spans = 0;
    for (auto _ : state) {
        Trace trace = trace_of(static_cast<int>(state.range(0)));
        spans = static_cast<double>(trace.spans.size());
        trace_bytes = resident_now() - before;
        Statistics of_trace = statistics(trace);
        with_statistics = resident("VmHWM") - before;
        Frame frame(make_document(std::move(trace), std::move(of_trace), std::nullopt), 1920, 1080,
                    1, 0);
        frame.paint();
        peak = resident("VmHWM") - before;
    }
    state.counters["trace"] = trace_bytes / spans;
    state.counters["statistics"] = with_statistics / spans;
    state.counters["peak"] = peak / spans;
    if (peak / spans > kMostBytesPerSpan) {
        std::cerr << "bytes_per_span: " << peak / spans << ", at most " << kMostBytesPerSpan
                  << "\n";
        failed = true;
    }
}
BENCHMARK(bytes_per_span)->Arg(10)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace debubble::gui

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    QApplication::setFont(QFont("DejaVu Sans", 9));
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return debubble::gui::failed ? 1 : 0;
}
