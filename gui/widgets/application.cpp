#include "gui/widgets/application.h"

#include <cstdlib>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>
#include <QApplication>
#include <QLocale>
#include <QScreen>
#include <QSettings>

#include "base/diagnostic.h"
#include "base/file.h"
#include "gui/viewmodel/export.h"
#include "gui/viewmodel/opened.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/widgets/language.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/picture_export.h"
#include "gui/widgets/state_file.h"
#include "gui/widgets/timeline/film.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace debubble::gui {
namespace {

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Whether a server listens on the socket of a display such as ":7" or ":7.0". Displays on other
/// hosts are assumed to listen.
bool listens(std::string_view display) {
    if (!display.starts_with(':')) return true;
    const std::string_view number = display.substr(1, display.find('.') - 1);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("/tmp/.X11-unix/X{}", number);
    path.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return true;
    const bool connected =
        ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return connected;
}

/// Throws if there is no display, for which Qt would only call abort().
void demand_display(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]) == "-platform") return;
    if (!environment("QT_QPA_PLATFORM").empty() || !environment("WAYLAND_DISPLAY").empty()) return;
    const std::string_view display = environment("DISPLAY");
    if (display.empty())
        throw WorldError(
            "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): log in with one, or "
            "write a file by --export plan.svg");
    if (!listens(display))
        throw WorldError(fmt::format(
            "the display {} does not answer: is it running? --export plan.svg needs none",
            display));
}

}  // namespace

int show_window(const CommandLine& line, int& argc, char** argv) {
    demand_display(argc, argv);
    const QApplication application(argc, argv);
    QLocale::setDefault(QLocale::c());  // files and figures have one format everywhere
    QApplication::setApplicationName("debubble");
    QApplication::setOrganizationName("debubble");
    QApplication::setDesktopFileName("org.debubble.debubble");
    QSettings::setDefaultFormat(QSettings::IniFormat);
    speak(remembered_language());
    const std::string state_file(environment("DEBUBBLE_GUI_STATE"));
    if (!state_file.empty()) check_can_write(state_file);
    MainWindow window;
    if (!state_file.empty()) new StateFile(window, state_file);  // a child of the window
    constexpr int kWide = 1700;  // a first window is maximised on narrower screens
    const bool first_start = !QSettings().contains("window/geometry");
    if (first_start && window.screen()->availableSize().width() < kWide)
        window.showMaximized();
    else
        window.show();
    window.open(line);
    return QApplication::exec();
}

void export_picture(const CommandLine& line, int& argc, char** argv) {
    check_folder_of(*line.export_to);
    const Opened opened = open_all(line.files, line.set);
    if (!opened.mistakes.empty()) throw InputError(opened.mistakes);
    std::shared_ptr<const PredictedPlan> plan;
    if (opened.scenario) {
        const Answer answer = gui::answer(*opened.scenario);
        if (!answer.plan) throw InputError(answer.mistakes);
        plan = answer.plan;
    }
    ::setenv("QT_QPA_PLATFORM", "offscreen", 1);
    const QApplication application(argc, argv);
    TimelineView view;
    if (opened.pairing)
        view.set_comparison(opened.traces[0].document, opened.traces[1].document, opened.pairing);
    else
        view.set_document(plan ? plan->document : opened.traces.front().document);
    if (line.links) view.toggle_link_use();
    const QSize size = line.size ? QSize(line.size->width, line.size->height) : QSize();
    const QString file = QString::fromStdString(*line.export_to);
    const ExportFormat format = export_format_of(*line.export_to);
    if (is_film_format(format)) return write_film(view.film(size), file, format);
    write_picture(view, file, format, size);
}

}  // namespace debubble::gui
