#include "sim/report/report_html.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "base/printable.h"
#include "sim/plan_words.h"
#include "sim/report/report_text.h"
#include "text/wording.h"
#include "trace/picture/svg.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kMostRankRows = 512;

constexpr std::string_view kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1640px;padding:0 1em;"
    "color:#1b1f24;background:#fff}"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}"
    "table{border-collapse:collapse}td,th{padding:.25em .8em;border-bottom:1px solid #d8dee4;"
    "text-align:right}td:first-child,th:first-child{text-align:left}"
    "figure{margin:0;overflow-x:auto}.no{color:#b3261e;font-weight:600}.yes{color:#1a7f37}"
    ".bar{display:inline-block;height:.8em;background:#5b8def;vertical-align:middle}"
    "pre{white-space:pre-wrap;background:#f6f8fa;padding:1em;overflow-x:auto}";

/// Text as HTML shows it; control characters are written out.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string share(const std::optional<double>& value) {
    return value ? text::percent(*value) : "unknown";
}

std::string figures(const Prediction& p) {
    std::string out = "<h2>Figures</h2>\n<table>\n";
    const auto row = [&](std::string_view name, const std::string& value) {
        out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name, escaped(value));
    };
    row("step time", text::time_text(p.step_time_s));
    if (p.range) row("range", range_words(*p.range, p.step_time_s));
    row("tokens per second", text::rate_text(p.tokens_per_s));
    row("samples per second", text::rate_text(p.samples_per_s));
    row("MFU", share(p.mfu));
    row("HFU", share(p.hfu));
    row("per GPU", text::flop_rate_text(p.tflops_per_gpu * 1e12));
    row("bubble", text::percent(p.bubble));
    row("span bubble", text::percent(p.span_bubble));
    row("parameters", text::count_text(p.parameters));
    row("schedule hash", p.schedule_hash.substr(0, 16));
    return out + "</table>\n";
}

std::string picture(const scenarios::Scenario& scenario, const PredictionWithTrace& answer) {
    std::ostringstream svg;
    write_svg(answer.trace, answer.statistics, picture_of(scenario, answer), svg);
    std::string text = std::move(svg).str();
    // Inside of HTML a picture has no XML declaration.
    if (const std::size_t begin = text.find("<svg"); begin != std::string::npos)
        text.erase(0, begin);
    return "<h2>Timeline</h2>\n<p>A bar says what it is when the pointer rests on it.</p>\n"
           "<figure>\n" +
           text + "\n</figure>\n";
}

std::string memory_row(const RankPrediction& rank, Bytes limit) {
    const double width = limit.count > 0 ? 12.0 * static_cast<double>(rank.needs().count) /
                                               static_cast<double>(limit.count)
                                         : 0;
    std::string row = fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{} <span class=\"bar\" style=\"width:{:.2f}em\"></span></td>",
        rank.rank.index, escaped(text::stages_text(rank.stages)), text::time_text(rank.busy_s),
        text::time_text(rank.exposed_comm_s), text::time_text(rank.idle_s),
        text::gib_text(rank.peak_memory), text::gib_text(rank.reserved), std::min(width, 40.0));
    for (const Bytes part : rank.memory) row += fmt::format("<td>{}</td>", text::gib_text(part));
    return row + fmt::format("<td>{}</td></tr>\n", escaped(rank.peak_op));
}

std::string ranks(const PredictionWithTrace& answer) {
    const Prediction& p = answer.prediction;
    std::string out =
        "<h2>Ranks</h2>\n<p>Memory is in GiB, in its parts at the instant of the peak.</p>\n"
        "<figure><table>\n<tr><th>rank</th><th>stages</th><th>busy</th><th>exposed "
        "communication</th><th>idle</th><th>peak</th><th>reserved</th>";
    for (std::size_t i = 0; i < kMemoryClasses; ++i)
        out += fmt::format("<th>{}</th>", name_of(static_cast<MemoryClass>(i)));
    out += "<th>at the peak runs</th></tr>\n";
    for (std::size_t i = 0; i < p.ranks.size() && i < kMostRankRows; ++i)
        out += memory_row(p.ranks[i], answer.memory_limit);
    out += "</table></figure>\n";
    if (p.ranks.size() > kMostRankRows)
        out += fmt::format("<p>The first {} of {} ranks are shown.</p>\n", kMostRankRows,
                           p.ranks.size());
    return out;
}

std::string list(std::string_view title, const std::vector<std::string>& sentences) {
    if (sentences.empty()) return {};
    std::string out = fmt::format("<h2>{}</h2>\n<ul>\n", title);
    for (const std::string& sentence : sentences)
        out += fmt::format("<li>{}</li>\n", escaped(sentence));
    return out + "</ul>\n";
}

}  // namespace

std::string report_html(const scenarios::Scenario& scenario, const PredictionWithTrace& answer) {
    const Prediction& p = answer.prediction;
    std::vector<std::string> sources;
    for (const ProvenanceNote& note : p.provenance)
        sources.push_back(fmt::format("{}: {}, {}", note.what, note.origin, note.source));
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
        "<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
        escaped(p.scenario), kStyle, escaped(headline(p)));
    out += fmt::format(
        "<p>{} on {} x {}<br>{}</p>\n<p class=\"{}\">{}{}</p>\n", escaped(scenario.model.name),
        scenario.gpus, escaped(scenario.cluster.gpu.name), escaped(plan_of(scenario)),
        p.fits ? "yes" : "no", escaped(fits_text(p)), p.fits ? "" : ": " + escaped(p.reason));
    out += figures(p) + picture(scenario, answer) + ranks(answer);
    out += list("Notes", p.notes) + list("Where the constants come from", sources);
    out += "<h2>The whole report</h2>\n<pre>" +
           escaped(report_text(scenario, answer, {.explain = true})) + "</pre>\n";
    return out + "</body>\n</html>\n";
}

}  // namespace debubble::sim
