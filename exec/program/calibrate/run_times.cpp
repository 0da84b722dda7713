#include "exec/program/calibrate/run_times.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/program/calibrate/statistics.h"
#include "text/document.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"
#include "text/wording.h"

namespace debubble::exec {
namespace {

constexpr double kLongest = 1e7;  ///< seconds of a start, a save or a load
constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;
constexpr double kApart = 1.1;  ///< ratio of the sizes from which on a fixed time can be told

/// The seconds and bytes of one kind; nothing where none was measured.
std::optional<Transfer> transfer_of(text::MappingReader& in, std::string_view seconds,
                                    std::string_view bytes) {
    Transfer transfer;
    if (!in.has(bytes) || !in.has(seconds)) {
        in.value(bytes);
        in.value(seconds);
        return std::nullopt;
    }
    if (!in.real(seconds, transfer.seconds, 1e-9, kLongest)) return std::nullopt;
    if (!in.whole(bytes, transfer.size.count, 1, kMostBytes)) return std::nullopt;
    return transfer;
}

std::string law_words(std::string_view verb, const TransferLaw& law) {
    const std::string rate = fmt::format("{:.3g} GB/s", law.rate.value / 1e9);
    if (!law.knows_fixed)
        return fmt::format("{} at {} (of one size, so that a fixed time cannot be told)", verb,
                           rate);
    return fmt::format("{} at {} and {} each", verb, rate, text::time_text(law.fixed_s));
}

}  // namespace

RunTimes read_run_times(const std::string& file) {
    text::Mistakes mistakes;
    const text::NodePtr report = text::read_document(file);
    text::MappingReader in(report, "report", mistakes);
    RunTimes times;
    if (!report->is(text::Node::Kind::Map) || !in.has("overheads"))
        in.complain("overheads",
                    "this is no report of 'debubble run --json', which says under "
                    "'overheads' what saves, loads and the start took");
    mistakes.throw_if_any();
    text::MappingReader overheads(in.value("overheads"), "overheads", mistakes);
    overheads.demand("start_s");
    overheads.real("start_s", times.start_s, 0, kLongest);
    times.save = transfer_of(overheads, "save_s", "saved_bytes");
    times.load = transfer_of(overheads, "load_s", "loaded_bytes");
    mistakes.throw_if_any();
    return times;
}

std::optional<TransferLaw> fit_transfers(const std::vector<Transfer>& transfers) {
    if (transfers.empty()) return std::nullopt;
    std::vector<Point> points;
    double bytes = 0;
    double seconds = 0;
    for (const Transfer& one : transfers) {
        points.push_back({static_cast<double>(one.size.count), one.seconds});
        bytes += points.back().x;
        seconds += one.seconds;
    }
    const TransferLaw by_rate{{bytes / seconds}, 0, false};
    const auto [least, most] = std::ranges::minmax(points, {}, &Point::x);
    if (most.x < kApart * least.x) return by_rate;
    const Line line = fit_line(points);
    if (line.beta <= 0) return by_rate;  // more bytes took no longer: noise
    return TransferLaw{{1 / line.beta}, line.alpha, true};
}

SiteTimes site_times_of(const std::vector<RunTimes>& runs) {
    std::vector<Transfer> saves;
    std::vector<Transfer> loads;
    std::vector<double> starts;
    for (const RunTimes& run : runs) {
        if (run.save) saves.push_back(*run.save);
        if (run.load) loads.push_back(*run.load);
        starts.push_back(run.start_s);
    }
    SiteTimes site{fit_transfers(saves), fit_transfers(loads), median(starts), {}};
    site.words = fmt::format("a start takes {}", text::time_text(site.start_s));
    if (site.save) site.words += "; " + law_words("saves", *site.save);
    if (site.load) site.words += "; " + law_words("loads", *site.load);
    if (!site.save) site.words += "; no run saved a checkpoint (training.checkpoint)";
    if (!site.load)
        site.words += "; no run went on after one (--resume), so that loads are not known";
    if (site.load) site.start_s += site.load->fixed_s;
    return site;
}

void put_site_times(const SiteTimes& times, scenarios::Cluster& cluster) {
    std::string checkpoint;
    const auto add = [&](const std::string& entry) {
        checkpoint += (checkpoint.empty() ? "" : ", ") + entry;
    };
    if (times.save) {
        add(fmt::format("write_bandwidth: {:.6g} B/s", times.save->rate.value));
        add(fmt::format("latency: {:.6g} s", times.save->fixed_s));
    }
    if (times.load) add(fmt::format("read_bandwidth: {:.6g} B/s", times.load->rate.value));
    std::string map = fmt::format("restart: {{start: {:.6g} s}}", times.start_s);
    if (!checkpoint.empty()) map = fmt::format("checkpoint: {{{}}}, {}", checkpoint, map);
    const text::NodePtr measured = text::parse_yaml("{" + map + "}", "measured");
    cluster.reliability =
        cluster.reliability ? text::merged_deeply(*cluster.reliability, *measured) : measured;
}

std::string reliability_text(const scenarios::Cluster& cluster) {
    if (!cluster.reliability) return {};
    return fmt::format("reliability: {}\n", text::to_flow(*cluster.reliability));
}

}  // namespace debubble::exec
