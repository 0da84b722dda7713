#include <QFileInfo>
#include <QImage>

#include "base/file.h"
#include "tests/gui/widgets/window.h"

namespace debubble::gui {
namespace {

TEST_F(Window, exports_the_timeline_in_every_format) {
    ASSERT_TRUE(opens({"gpt2-xl-zb-v"}));
    const std::pair<const char*, std::string> starts[]{{"a.svg", "<"},
                                                       {"a.png", "\x89PNG"},
                                                       {"a.pdf", "%PDF"},
                                                       {"a.csv", "rank,"},
                                                       {"a.json", "{"}};
    for (const auto& [name, start] : starts) {
        const QString file = folder.filePath(name);
        window->export_to(file);
        EXPECT_TRUE(read_file(file.toStdString()).starts_with(start)) << name;
    }
    window->export_to(folder.filePath("a.bmp"));
    EXPECT_TRUE(window->message().contains(".svg"));
    // A film takes a while, and is one at a time.
    QSignalSpy filmed(window.get(), &MainWindow::filmed);
    const QString film = folder.filePath("a.gif");
    window->export_to(film);
    window->export_to(folder.filePath("b.gif"));
    EXPECT_TRUE(window->message().contains("wait"));
    ASSERT_TRUE(!filmed.isEmpty() || filmed.wait(kDeadline));
    EXPECT_TRUE(read_file(film.toStdString()).starts_with("GIF89a"));
    EXPECT_TRUE(window->message().contains(film));
    EXPECT_FALSE(QFileInfo::exists(folder.filePath("b.gif")));
}

TEST_F(Window, a_comparison_is_exported_with_both_of_its_traces) {
    ASSERT_TRUE(opens({"gpt2-xl-1f1b"}));
    ASSERT_TRUE(settles_after([&] { choose("schedule", "zb-h1"); }));
    ASSERT_TRUE(settles_after([&] { window->compare_plans(); }));
    const QString svg = folder.filePath("both.svg");
    window->export_to(svg);
    const std::string picture = read_file(svg.toStdString());
    const Scene& scene = window->findChild<TimelineView*>()->scene();
    const std::string a = scene.main.document->caption.title;
    const std::string b = scene.other.document->caption.title;
    EXPECT_NE(a, b) << "steps of two schedules take different times";
    EXPECT_NE(picture.find("A: " + a), std::string::npos) << a;
    EXPECT_NE(picture.find("B: " + b), std::string::npos) << b;
}

TEST_F(Window, a_page_of_pdf_holds_shapes_and_text_and_a_picture_is_wide) {
    ASSERT_TRUE(opens({"gpt2-xl-zb-h1"}));
    const QString pdf = folder.filePath("plan.pdf");
    window->export_to(pdf);
    // A few bars as shapes take no image; those of a zoomed-out long plan would.
    EXPECT_EQ(read_file(pdf.toStdString()).find("/Subtype /Image"), std::string::npos);
    const QString png = folder.filePath("plan.png");
    window->export_to(png);
    EXPECT_EQ(QImage(png).width(), 2 * 1920);
}

}  // namespace
}  // namespace debubble::gui
