#include "scenarios/read/draft.h"

/// The key `published`.
namespace debubble::scenarios {
namespace {

using text::described;
using text::duration;
using text::Fields;
using text::free_text;
using text::real;
using text::required;

constexpr double kMostTokensPerSecond = 1e12;
constexpr double kMostTeraflops = 1e6;

const Fields<Published>& published_fields() {
    static const Fields<Published> kFields{
        {"source", required(free_text(&Published::source)),
         "The source of the figure: a paper's number and table, or a repository's file and line.",
         "arXiv:2407.21783, table 4"},
        {"step", duration(&Published::step), "The time of an optimizer step.", "20 s",
         "not published"},
        {"tokens_per_s_per_gpu",
         real(&Published::tokens_per_s_per_gpu, 1e-6, kMostTokensPerSecond, "tokens/s"),
         "Tokens per second and GPU.", "1664", "not published"},
        {"tflops_per_gpu", real(&Published::tflops_per_gpu, 1e-6, kMostTeraflops, "TFLOP/s"),
         "Model FLOP/s per GPU, as counted by the source.", "400", "not published"}};
    return kFields;
}

}  // namespace

std::vector<text::Form> published_forms() {
    return {text::Form{text::MapForm{described(published_fields())}}};
}

void read_published(text::MappingReader& scenario, std::string_view key, Draft& draft) {
    const text::NodePtr value = scenario.value(key);
    if (!value) return;
    text::MappingReader in(value, key, scenario.mistakes());
    Published published;
    read_fields(in, published_fields(), published);
    in.finish();
    const int figures = (published.step ? 1 : 0) + (published.tokens_per_s_per_gpu ? 1 : 0) +
                        (published.tflops_per_gpu ? 1 : 0);
    if (in.good() && figures != 1)
        scenario.complain(
            key, "give one published figure: 'step', 'tokens_per_s_per_gpu' or 'tflops_per_gpu'");
    draft.scenario.published = std::move(published);
}

}  // namespace debubble::scenarios
