#include "sim/report/plan_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/report/report.h"
#include "text/wording.h"
#include "trace/page/encode.h"

namespace debubble::sim {
namespace {

using page::escaped;

constexpr std::size_t kMostRankRows = 512;

std::string share(const std::optional<double>& value) {
    return value ? text::percent(*value) : "unknown";
}

std::string cell(std::string_view words, std::string_view of_class = {}) {
    return of_class.empty() ? fmt::format("<td>{}</td>", escaped(words))
                            : fmt::format("<td class=\"{}\">{}</td>", of_class, escaped(words));
}

std::string table(std::initializer_list<std::string_view> headings, const std::string& rows) {
    std::string out = "<div class=\"wide\"><table>\n<thead><tr>";
    for (const std::string_view heading : headings)
        out += fmt::format("<th>{}</th>", escaped(heading));
    return out + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string memory_row(const RankPrediction& rank, Bytes limit) {
    constexpr double kBarEms = 8;
    constexpr double kMostEms = 24;
    const double width = limit.count > 0 ? kBarEms * static_cast<double>(rank.needs().count) /
                                               static_cast<double>(limit.count)
                                         : 0;
    std::string row =
        "<tr>" + cell(std::to_string(rank.rank.index)) + cell(text::stages_text(rank.stages)) +
        cell(text::time_text(rank.busy_s)) + cell(text::time_text(rank.exposed_comm_s)) +
        cell(text::time_text(rank.optimizer_s)) + cell(text::time_text(rank.idle_s)) +
        cell(text::gib_text(rank.peak_memory)) +
        fmt::format("<td>{} <span class=\"bar\" style=\"width:{:.2f}em\"></span></td>",
                    text::gib_text(rank.reserved.value_or(Bytes{})), std::min(width, kMostEms));
    for (const Bytes part : rank.memory) row += cell(text::gib_text(part));
    return row + cell(rank.peak_op, "words") + "</tr>\n";
}

std::string list_of(const std::vector<std::string>& sentences) {
    if (sentences.empty()) return {};
    std::string out = "<ul>\n";
    for (const std::string& sentence : sentences)
        out += fmt::format("<li>{}</li>\n", escaped(sentence));
    return out + "</ul>\n";
}

page::SmallPicture small_picture(const SmallTimeline& timeline) {
    page::SmallPicture picture;
    // Every other column is enough for a table.
    const auto halved = [](const std::vector<std::vector<std::uint32_t>>& lines) {
        std::vector<std::vector<std::uint32_t>> out;
        for (const auto& line : lines) {
            std::vector<std::uint32_t>& half = out.emplace_back();
            for (std::size_t x = 0; x < line.size(); x += 2) half.push_back(line[x]);
        }
        return out;
    };
    picture.light = halved(timeline.light);
    picture.dark = halved(timeline.dark);
    picture.width = (timeline.width + 1) / 2;
    return picture;
}

std::string zoo_row(const ZooRow& row, std::vector<page::SmallPicture>& pictures) {
    const std::string stages =
        row.stages_per_rank > 1 ? fmt::format(", {} stages per rank", row.stages_per_rank) : "";
    const char* of_class = row.present      ? " class=\"present\""
                           : row.possible() ? ""
                                            : " class=\"out\"";
    std::string out =
        fmt::format("<tr{}>", of_class) + cell(row.schedule + stages) + cell(row.summary, "words");
    if (!row.possible())
        return out + fmt::format("<td class=\"words\" colspan=\"6\">{}</td></tr>\n",
                                 escaped(*row.why_not));
    out += fmt::format("<td><canvas data-picture=\"{}\"></canvas></td>", pictures.size());
    pictures.push_back(small_picture(row.picture));
    return out + cell(text::time_text(row.step_s)) + cell(text::percent(row.bubble)) +
           cell(text::percent(row.exposed)) + cell(text::gib_text(row.peak) + " GiB") +
           (row.fits ? cell("fits", "yes") : cell("does not fit", "no")) + "</tr>\n";
}

std::string takes_text(const BillRow& row) {
    const std::string time = text::time_text(row.part.takes);
    return row.whole ? time : fmt::format("{}, {}", time, text::percent(row.share));
}

std::string if_free_text(const BillRow& row) {
    if (!row.part.if_free) return {};
    const std::string time = text::time_text(*row.part.if_free);
    return row.is_shorter() ? fmt::format("{}, {} shorter", time, text::percent(*row.shorter))
                            : time + ", no shorter";
}

}  // namespace

std::string paragraph(std::string_view words) {
    return fmt::format("<p>{}</p>\n", escaped(words));
}

std::string preformatted(std::string_view words) {
    return fmt::format("<pre>{}</pre>\n", escaped(words));
}

std::string figures_section(const Prediction& p) {
    std::string rows;
    const auto row = [&](std::string_view name, const std::string& value) {
        rows += "<tr>" + cell(name) + cell(value, "words") + "</tr>\n";
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
    row("memory", fits_text(p) + (p.fits ? "" : ": " + p.reason));
    row("schedule hash", p.schedule_hash.substr(0, 16));
    return table({"", ""}, rows);
}

std::string ranks_section(const Prediction& p, Bytes memory_limit) {
    std::string rows;
    for (std::size_t i = 0; i < p.ranks.size() && i < kMostRankRows; ++i)
        rows += memory_row(p.ranks[i], memory_limit);
    std::string out =
        "<p>Memory is in GiB, in its parts at the instant of the peak.</p>\n" +
        table({"rank", "stages", "busy", "exposed communication", "optimizer", "idle", "peak",
               "reserved", name_of(MemoryClass::Parameters), name_of(MemoryClass::Gradients),
               name_of(MemoryClass::Optimizer), name_of(MemoryClass::Activations),
               name_of(MemoryClass::Buffers), name_of(MemoryClass::Workspace), "at the peak runs"},
              rows);
    if (p.ranks.size() > kMostRankRows)
        out += fmt::format("<p>The first {} of {} ranks are shown.</p>\n", kMostRankRows,
                           p.ranks.size());
    return out;
}

std::string notes_section(const Prediction& p) {
    return list_of(p.notes);
}

std::string provenance_section(const Prediction& p) {
    std::vector<std::string> sources;
    for (const ProvenanceNote& note : p.provenance)
        sources.push_back(fmt::format("{}: {}, {}", note.what, note.origin, note.source));
    if (sources.empty()) return {};
    return fmt::format("<details><summary>{} constants</summary>\n{}</details>\n", sources.size(),
                       list_of(sources));
}

std::string report_section(const scenarios::Scenario& scenario, const PredictionWithTrace& answer) {
    return "<details><summary>As text</summary>\n" +
           preformatted(report_text(scenario, answer, {.explain = true})) + "</details>\n";
}

std::string bill_section(const std::vector<BillRow>& bill) {
    if (bill.empty()) return {};
    std::string rows;
    for (const BillRow& row : bill) {
        // Browsers that do not know light-dark() colours use the first one.
        const std::string colour = fmt::format("background:{0};background:light-dark({0},{1})",
                                               hex(row.light), hex(row.dark));
        rows += fmt::format(
            "<tr{}>{}<td><div class=\"fall\"><span style=\"left:{:.3f}%;width:{:.3f}%;{}\">"
            "</span></div></td>{}{}{}</tr>\n",
            row.whole ? " class=\"present\"" : "", cell(row.part.words), 100 * row.from,
            100 * (row.to - row.from), colour, cell(takes_text(row)), cell(if_free_text(row)),
            cell(row.part.freed, "words"));
    }
    return "<p>From the step of perfect kernels to the real one. The last columns are the same "
           "plan, "
           "played again with that cost at zero.</p>\n" +
           table({"part of the step", "from the ideal to the step", "takes", "step if it were free",
                  "played again"},
                 rows);
}

std::string zoo_section(const std::vector<ZooRow>& zoo, std::vector<page::SmallPicture>& pictures) {
    if (zoo.empty()) return {};
    std::string rows;
    for (const ZooRow& row : zoo) rows += zoo_row(row, pictures);
    return "<p>The same plan by every schedule, with the number of stages per rank by which its "
           "step "
           "is shortest; the small pictures share an axis.</p>\n" +
           table({"schedule", "", "the step", "step", "bubble", "exposed", "peak memory", ""},
                 rows);
}

}  // namespace debubble::sim
