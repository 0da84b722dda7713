#include <QCoreApplication>
#include <QSplitter>

#include "gui/widgets/bill/bill_panel.h"
#include "gui/widgets/bill/tornado_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/plan_session.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The bill and the bars of the machine's constants, above the lanes, in which parts of the bill
/// are highlighted.
class BillPage : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::BillPage)

public:
    explicit BillPage(ViewHost& host)
        : WindowView(host), bill_(new BillPanel), tornado_(new TornadoView), both_(new QSplitter) {
        both_->addWidget(bill_);
        both_->addWidget(tornado_);
        both_->setStretchFactor(0, 3);
        both_->setStretchFactor(1, 2);
        both_->setSizes({1000, 420});
        both_->hide();
        QSplitter& lanes = host.lanes();
        lanes.insertWidget(0, both_);
        lanes.setStretchFactor(0, 1);
        lanes.setStretchFactor(1, 1);
        lanes.setChildrenCollapsible(false);
        lanes.setSizes({400, 500});
        QObject::connect(bill_, &BillPanel::looked_at, &context_,
                         [this](const sim::BillRow* row) { light(row); });
        const auto turn = [this](const ScenarioText& changed, const QString& what) {
            if (host_.desk().edits()) host_.session().set_keys(changed, {}, what);
        };
        QObject::connect(bill_, &BillPanel::turned, &context_, turn);
        QObject::connect(tornado_, &TornadoView::turned, &context_, turn);
    }

    ViewFacts facts() const override {
        return {.name = "bill",
                .place = ViewPlace::Middle,
                .title = tr("Where it goes"),
                .line = tr("what the step is paid for, and how it depends on the machine"),
                .command = tr("Show &where the step goes"),
                .key = QKeySequence("Alt+3"),
                .tip = tr("In the middle of the window"),
                .keys = {{tr("pointer"),
                          tr("on a part lights its actions and bubbles in the lanes below")},
                         {tr("click, Enter"), tr("on a part's knob turns it")},
                         {tr("drag, Left, Right"),
                          tr("a knob of the bars beside: what if the machine were such")}}};
    }
    QWidget* widget() override { return &host_.lanes(); }

    void show(const Screen& screen) override {
        bill_->set_plan(plan_of(screen), text_of(screen));
        if (!std::holds_alternative<on_screen::Comparison>(screen))
            tornado_->set_scenario(text_of(screen));
    }
    void front_changed(bool front) override {
        both_->setVisible(front);
        if (!front && host_.timeline().scene().lit.any()) host_.timeline().light({});
    }

private:
    void light(const sim::BillRow* row) {
        const Document document = host_.timeline().scene().main.document;
        if (!document) return;
        host_.timeline().light(row ? highlight_of(*document, row->part.key, row->part.idle)
                                   : Highlight{});
    }

    BillPanel* bill_;
    TornadoView* tornado_;
    QSplitter* both_;
};

std::unique_ptr<WindowView> bill_page(ViewHost& host) {
    return std::make_unique<BillPage>(host);
}

}  // namespace debubble::gui
