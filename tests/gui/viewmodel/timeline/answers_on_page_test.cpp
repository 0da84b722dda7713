#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "gui/viewmodel/timeline/answer_line.h"
#include "gui/viewmodel/what_if/answer.h"
#include "scenarios/read/edit.h"
#include "tests/gui/viewmodel/shipped.h"
#include "tests/support/source_folder.h"
#include "trace/page/bar_columns.h"
#include "trace/page/page.h"

namespace debubble::gui {
namespace {

namespace fs = std::filesystem;

std::string node_program() {
    for (const char* name : {"nodejs", "node"})
        if (std::system(fmt::format("command -v {} > /dev/null", name).c_str()) == 0) return name;
    return {};
}

/// A page and the window's sentences, in a folder of their own.
class AnswersOnPage : public testing::Test {
protected:
    void SetUp() override {
        if (node_program().empty()) GTEST_SKIP() << "node is not installed";
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    static Document document_with(const std::string& name,
                                  const std::vector<scenarios::Override>& changes) {
        ScenarioText source = shipped(name);
        for (const scenarios::Override& change : changes)
            source.text = scenarios::with_key(source.text, source.file, change);
        return answer(source).plan->document;
    }

    void expect_the_same_sentences(const Document& document) {
        Scene scene;
        scene.main = {document, nullptr, {}};
        nlohmann::json sentences{{"bubbles", nlohmann::json::object()},
                                 {"bars", nlohmann::json::array()}};
        const Statistics& statistics = document->statistics;
        for (std::uint32_t i = 0; i < statistics.bubbles.size(); ++i) {
            const Bubble& bubble = statistics.bubbles[i];
            const std::string key = fmt::format("{} {}", bubble.rank.index,
                                                (bubble.begin - document->range.begin).count());
            sentences["bubbles"][key] = text_of(answer_line(scene, BubbleRef{i}));
        }
        const page::BarNumbers numbers(*document);
        for (std::uint32_t span = 0; span < document->trace.spans.size(); ++span)
            if (const auto bar = numbers.of(span))
                sentences["bars"][static_cast<std::size_t>(*bar)] =
                    text_of(answer_line(scene, SpanRef{span, Side::A}));
        page::Page page;
        page.documents = {document};
        const std::string html = (folder_ / "page.html").string();
        const std::string json = (folder_ / "sentences.json").string();
        const std::string differences = (folder_ / "differences").string();
        write_file(html, page::page_html(page));
        write_file(json, sentences.dump());
        const std::string script = (source_folder() / "tests/page/sentences.mjs").string();
        const int status = std::system(fmt::format("{} '{}' '{}' '{}' > '{}' 2>&1", node_program(),
                                                   script, html, json, differences)
                                           .c_str());
        EXPECT_EQ(status, 0) << read_file(differences);
    }

private:
    const fs::path folder_ =
        fs::temp_directory_path() / fmt::format("debubble-answers-{}", ::getpid());
};

const std::vector<scenarios::Override> kSmall{{"training.global_batch", "32"},
                                              {"training.micro_batches", "8"}};

TEST_F(AnswersOnPage, are_those_of_the_window_for_a_zero_bubble_plan) {
    expect_the_same_sentences(document_with("gpt2-xl-zb-v", kSmall));
}

TEST_F(AnswersOnPage, are_those_of_the_window_where_all_is_collectives) {
    expect_the_same_sentences(document_with("a40-fsdp-7b", {}));
}

TEST_F(AnswersOnPage, are_those_of_the_window_for_waits_of_many_causes) {
    const Document document = document_with("gpt3-175b", {{"training.global_batch", "256"}});
    std::set<BubbleCause> causes;
    for (const Bubble& bubble : document->statistics.bubbles) causes.insert(bubble.cause);
    EXPECT_GE(causes.size(), 4U);
    expect_the_same_sentences(document);
}

TEST_F(AnswersOnPage, are_those_of_the_window_for_experts_and_pairs) {
    expect_the_same_sentences(document_with("deepseek-v3", {{"training.global_batch", "4096"}}));
}

}  // namespace
}  // namespace debubble::gui
