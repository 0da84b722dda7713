#include <cstdlib>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/timeline/plans.h"
#include "tests/gui/widgets/timeline/views.h"
#include "trace/picture/bubbles.h"

/// Whole frames. With DEBUBBLE_PICTURES=FOLDER they are kept in that folder.
namespace debubble::gui {
namespace {

struct Case {
    const char* name;
    const char* scenario;
    std::vector<scenarios::Override> set;
};

void keep(const QImage& image, const std::string& name) {
    const char* folder = std::getenv("DEBUBBLE_PICTURES");
    if (folder == nullptr) return;
    EXPECT_TRUE(image.save(QString::fromStdString(std::string(folder) + "/" + name + ".png")));
}

/// The number of pixels with the ground of bubbles of any cause.
std::size_t count_bubbles(const QImage& image, Theme theme) {
    std::size_t pixels = 0;
    for (std::size_t c = 0; c < kBubbleCauses; ++c)
        pixels += count(image, bubble_colours(static_cast<BubbleCause>(c), theme).ground);
    return pixels;
}

class Picture : public testing::TestWithParam<Case> {};

TEST_P(Picture, HasBarsAndTextInBothThemesAndSizes) {
    const Document document = predicted(GetParam().scenario, GetParam().set);
    for (const Theme theme : {Theme::Light, Theme::Dark})
        for (const double ratio : {1.0, 2.0}) {
            TimelineView view;
            if (theme == Theme::Dark) view.setPalette(dark_palette());
            view.resize(1280, 640);
            view.set_document(document);
            const QImage image = view.picture({1280, 640}, ratio);
            EXPECT_EQ(image.size(), QSize(1280, 640) * ratio);
            const Palette& palette = palette_of(theme);
            for (const Paint paint : {Paint::Forward, Paint::Backward})
                EXPECT_GT(count(image, palette[static_cast<std::size_t>(paint)]), 200U)
                    << name_of(paint);
            EXPECT_GT(count_bubbles(image, theme), 200U);
            EXPECT_GT(count(image, ground_of(theme).text), 20U);
            keep(image, std::string(GetParam().name) + (theme == Theme::Dark ? "-dark" : "-light") +
                            (ratio == 2 ? "-200" : "-100"));
        }
}

INSTANTIATE_TEST_SUITE_P(Plans, Picture,
                         testing::Values(Case{"gpt3-1f1b", "gpt3-175b", {{"schedule", "1f1b"}}},
                                         Case{"gpt2-xl-zb-h1", "gpt2-xl-zb-h1", {}},
                                         Case{"gpt2-xl", "gpt2-xl", {}}),
                         [](const auto& plan) {
                             std::string name = plan.param.name;
                             std::erase(name, '-');
                             return name;
                         });

/// A simulated step, changed like an executed one: some passes longer, all a little late.
Trace as_if_executed(Trace trace) {
    trace.header.source = TraceSource::Executed;
    std::int64_t late = 0;
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
        Span& span = trace.spans[i];
        span.begin += Duration{late};
        span.end += Duration{late};
        if (!std::holds_alternative<Compute>(span.action)) continue;
        const Duration length = span.length();
        const int share = static_cast<int>(i * 7919 % 41) - 14;  // -14 % to 26 %
        if (share < 0) span.end += length * share / 100;
        late += length.count() / 400;
    }
    return trace;
}

TEST(ComparisonPicture, HasHalfLanesAndErrors) {
    const Document a = predicted("gpt2-xl-zb-h1");
    const Document b = make_document(as_if_executed(a->trace), a->memory_limit);
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        TimelineView view;
        if (theme == Theme::Dark) view.setPalette(dark_palette());
        view.resize(1280, 640);
        view.set_comparison(a, b, pair(*a, *b));
        const std::string suffix = theme == Theme::Dark ? "-dark" : "-light";
        const QImage all = view.picture({1280, 640}, 1);
        keep(all, "comparison" + suffix);
        ComparisonChoices choices;
        choices.only_differences = true;
        view.set_comparison_choices(choices);
        const QImage differences = view.picture({1280, 640}, 1);
        keep(differences, "comparison-differences" + suffix);
        const Rgb forward = palette_of(theme)[0];
        EXPECT_LT(count(differences, forward), count(all, forward));
        EXPECT_GT(count(all, ground_of(theme).accent), 20U);  // A and B
    }
}

TEST(InteractionPicture, HasArrowsMarksAndMeasures) {
    TimelineView view;
    view.resize(1280, 640);
    view.set_document(predicted("gpt2-xl-zb-h1"));
    view.set_ghost(predicted("gpt2-xl-zb-h1", {{"schedule", "1f1b"}}));
    view.search("1F9");
    view.search("");
    ViewState state = view.state();
    state.axis.zoom(2.2, 300);
    const TimeRange shown = state.axis.shown();
    state.marks = {shown.begin + shown.length() / 5};
    state.measured = {shown.begin + shown.length() * 7 / 10, shown.begin + shown.length() * 8 / 10};
    state.rows.streams = {1};
    view.set_state(state);
    const QImage image = view.picture({1280, 640}, 1);
    keep(image, "interaction");
    EXPECT_GT(count(image, ground_of(Theme::Light).accent), 500U);
    view.clear();
    view.toggle_critical_path();
    keep(view.picture({1280, 640}, 1), "critical-path");
}

TEST(SvgPicture, IsWhatTheScreenShows) {
    TimelineView view;
    view.resize(1280, 640);
    view.set_document(predicted("gpt2-xl-zb-h1"));
    const std::string all = view.svg({1280, 640});
    EXPECT_THAT(all, testing::HasSubstr("<title>0F0 "));
    EXPECT_THAT(all, testing::Not(testing::HasSubstr(hex(ground_of(Theme::Light).accent))));
    ViewState state = view.state();
    state.axis.zoom(8, 700);
    const TimeRange shown = state.axis.shown();
    state.measured = {shown.begin, shown.begin + std::chrono::milliseconds(12)};
    view.set_state(state);
    const std::string part = view.svg({1280, 640});
    EXPECT_THAT(part, testing::HasSubstr(">12 ms</text>"));
    EXPECT_THAT(part, testing::Not(testing::HasSubstr("<title>0F0 "))) << "it is out of sight";
    EXPECT_EQ(view.state().axis, state.axis);
}

/// The two computes of an Overlap are halves of one bar; memory above the limit is red.
TEST(SpecialPicture, HasOverlapsAndTooMuchMemory) {
    TimelineView view;
    view.resize(1280, 640);
    view.set_document(predicted("gpt2-xl-dualpipe"));
    keep(view.picture({1280, 640}, 1), "dualpipe");
    const Document roomy = predicted("gpt3-175b", {{"schedule", "1f1b"}});
    const Document tight = make_document(roomy->trace, Bytes{54LL << 30});
    view.set_document(tight);
    const QImage image = view.picture({1280, 640}, 1);
    keep(image, "too-much-memory");
    EXPECT_GT(count(image, ground_of(Theme::Light).warning), 1000U);
}

TEST(ManyDevices, HaveStripsOfHeat) {
    TimelineView view;
    view.resize(1280, 720);
    const Document document = predicted("gpt3-175b", {{"schedule", "1f1b"},
                                                      {"parallel.pipeline", "48"},
                                                      {"nodes", "48"},
                                                      {"training.global_batch", "96"}});
    view.set_document(document);
    keep(view.picture({1280, 720}, 1), "many-devices-folded");
    EXPECT_LT(view.scene().layout.height, 720) << "similar ranks share rows";
    view.toggle_folding();
    keep(view.picture({1280, 720}, 1), "many-devices");
    EXPECT_EQ(view.scene().layout.rows.size(), 48U);
    EXPECT_TRUE(view.scene().layout.rows[0].heat);
}

/// The image is reused from frame to frame, so that unpainted pixels would show the previous frame.
TEST(Frame, CoversEveryPixelWhateverIsShown) {
    constexpr Rgb kStale{255, 0, 255};
    const Document four = document_of(
        plan("1f1b", 4, 8, std::chrono::milliseconds(1), std::chrono::microseconds(100)));
    const Document two = document_of(plan("gpipe", 2, 12));
    const Document many = document_of(plan("1f1b", 40, 8));
    const Document held = predicted("gpt2-xl-zb-h1");
    const auto stale = [&](const Scene& like, ViewState state, QSize size, double ratio) {
        Scene scene = like;
        const auto coloured = [](Layer& layer) {
            if (layer) layer.colouring = colour(*layer.document, {});
        };
        coloured(scene.main);
        coloured(scene.other);
        QImage image(size * ratio, QImage::Format_RGB32);
        image.setDevicePixelRatio(ratio);
        image.fill(QColor(kStale.red, kStale.green, kStale.blue));
        const Geometry geometry{size};
        state.axis = TimeAxis(scene.range(), geometry.lanes_width());
        if (scene.main)
            scene.layout = lay_out(*scene.main.document, state.rows,
                                   {scene.main.document == held || scene.main.document == many,
                                    scene.ghost(), scene.comparison},
                                   geometry.lanes_height());
        Look look;
        paint_frame(image, scene, state, look);
        return count(image, kStale);
    };
    ViewState opened;
    opened.rows = {{1, 2}, {}, {0}, {3}};
    ViewState scrolled = opened;
    scrolled.scroll = 37;
    for (const double ratio : {1.0, 1.25, 1.5, 2.0})
        for (const ViewState& state : {ViewState{}, opened, scrolled})
            for (const Document& main : {four, many, held})
                for (const Document& other : {Document{}, two, four})
                    for (const bool comparison : {false, true}) {
                        Scene scene;
                        scene.main = {main, nullptr, {}};
                        scene.other = {other, nullptr, {}};
                        scene.comparison = comparison && other != nullptr;
                        EXPECT_EQ(stale(scene, state, {501, 303}, ratio), 0U) << ratio;
                    }
    EXPECT_EQ(stale({}, {}, {501, 303}, 1), 0U);
    // Large enough to be painted by two threads.
    Scene large;
    large.main = {held, nullptr, {}};
    large.other = {four, nullptr, {}};
    large.comparison = true;
    EXPECT_EQ(stale(large, scrolled, {1400, 900}, 1), 0U);
    large.main = {many, nullptr, {}};
    EXPECT_EQ(stale(large, opened, {1400, 900}, 2), 0U);
}

}  // namespace
}  // namespace debubble::gui
