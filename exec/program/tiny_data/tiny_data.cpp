#include "exec/program/tiny_data/tiny_data.h"

#include <filesystem>
#include <functional>
#include <system_error>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/outputs.h"
#include "exec/io/data/training_data.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

using scenarios::DataOptions;

class Making {
public:
    explicit Making(const scenarios::Scenario& scenario)
        : scenario_(scenario), data_(scenario.training.run.data) {
        check_source(scenario);
        if (scenario.model.sees_images())
            add_kind("images", data_.images, [&](const fs::path& path, int seed) {
                return images_item(scenario_, path.extension() == ".bin", seed);
            });
        else
            add_corpora();
    }

    const std::vector<MadeFile>& items() const { return items_; }

private:
    void add(std::string key, const fs::path& path, MadeFile item) {
        item.key = "training.data." + std::move(key);
        item.path = path;
        items_.push_back(std::move(item));
    }

    /// The data to train on and, if it is named, that to evaluate on.
    void add_kind(const char* key, const std::string& path,
                  const std::function<MadeFile(const fs::path&, int)>& make) {
        add(key, path, make(path, 1));
        if (!data_.eval.empty()) add("eval", data_.eval, make(data_.eval, 2));
    }

    void add_corpora() {
        const CorpusSize amount = corpus_size_for(scenario_);
        if (!data_.tokens.empty())
            add_kind("tokens", data_.tokens, [&](const fs::path&, int seed) {
                return tokens_item(amount, scenario_, seed);
            });
        const bool bytes = data_.tokenizer.empty();
        if (bytes && !data_.tokens.empty()) return;
        if (!bytes && scenario_.model.vocab < 257)
            throw InputError(
                fmt::format("'model.vocab' is {}; a tokenizer has 257 tokens or more: the bytes "
                            "and end-of-text",
                            scenario_.model.vocab));
        const MadeUpLanguage language = made_up_language(scenario_.model.vocab);
        if (!data_.text.empty())
            add_kind("text", data_.text,
                     [&](const fs::path&, int seed) { return text_item(amount, language, seed); });
        if (!data_.jsonl.empty())
            add_kind("jsonl", data_.jsonl, [&](const fs::path&, int seed) {
                return json_lines_item(amount, data_.pack, language, seed);
            });
        if (!bytes) add_tokenizer(data_.tokenizer, language);
    }

    void add_tokenizer(const fs::path& path, const MadeUpLanguage& language) {
        add("tokenizer", path, tokenizer_item(path, language));
        if (path.filename() == "vocab.json")
            add("tokenizer", path.parent_path() / "merges.txt",
                {{},
                 {},
                 fmt::format("{} merges", language.merges.size()),
                 [=](const fs::path& file) { write_file(file, merges_txt(language)); }});
    }

    const scenarios::Scenario& scenario_;
    const DataOptions& data_;
    std::vector<MadeFile> items_;
};

/// A scenario of somebody else must not write where its reader does not expect it.
void check_place(const MadeFile& item) {
    std::error_code error;
    if (fs::exists(fs::symlink_status(item.path, error)))
        throw InputError(
            fmt::format("{} is there already, and is not replaced; remove it, or name another "
                        "place by --set {}=...",
                        item.path.string(), item.key));
    const fs::path here = fs::current_path();
    const fs::path there = fs::weakly_canonical(fs::absolute(item.path), error);
    const fs::path inside = there.lexically_relative(here);
    if (error || inside.empty() || *inside.begin() == ".." || inside == ".")
        throw InputError(fmt::format(
            "'{}' is {}, which lies outside the current folder; small data is made below it only",
            item.key, item.path.string()));
}

}  // namespace

std::vector<std::string> make_tiny_data(const scenarios::Scenario& scenario) {
    const Making making(scenario);
    Outputs outputs;
    for (const MadeFile& item : making.items()) {
        check_place(item);
        outputs.add(item.key, item.path.string());
    }
    outputs.check();
    std::vector<std::string> made;
    for (const MadeFile& item : making.items()) {
        item.write(item.path);
        made.push_back(fmt::format("{}: {}", item.path.string(), item.content));
    }
    return made;
}

}  // namespace debubble::exec
