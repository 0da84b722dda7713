#include "exec/io/data/data_set.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace {

/// Larger files are checked as they are read: a scan at the start would take minutes.
constexpr std::int64_t kMostTokensChecked = std::int64_t{1} << 31;

class TokenDataSet : public DataSet {
public:
    TokenDataSet(std::shared_ptr<const TokenFile> file, const TokenRules& rules)
        : file_(std::move(file)), rules_(rules) {
        check_tokens(0, std::min(file_->size(), kMostTokensChecked));
    }

    Batch batch_of(std::int64_t samples) const final {
        const Shape shape{samples, rules_.seq_length};
        return {Tensor(shape, DataType::Int32), Tensor(shape, DataType::Int32)};
    }

    void read_nothing(std::int64_t row, Batch& batch) const final { pad(row, 0, batch); }

protected:
    const TokenFile& file() const { return *file_; }
    const TokenRules& rules() const { return rules_; }

    /// Writes `targets` inputs and targets from `first` on, then padding. Returns the number that
    /// counts.
    std::int64_t show(std::int64_t first, std::int64_t targets, std::int64_t row,
                      Batch& batch) const {
        check_tokens(first, first + targets + 1);
        std::int32_t* const input = batch.inputs.as<std::int32_t>().row(row);
        std::int32_t* const target = batch.targets.as<std::int32_t>().row(row);
        for (std::int64_t i = 0; i < targets; ++i) {
            input[i] = static_cast<std::int32_t>((*file_)[first + i]);
            target[i] = static_cast<std::int32_t>((*file_)[first + i + 1]);
        }
        pad(row, targets, batch);
        file_->check_whole();
        return count(first, targets);
    }

    std::int64_t count(std::int64_t first, std::int64_t targets) const {
        if (rules_.ignore_index < 0 || rules_.ignore_index >= rules_.vocab) return targets;
        std::int64_t counted = 0;
        for (std::int64_t i = 1; i <= targets; ++i)
            counted += (*file_)[first + i] != static_cast<std::uint32_t>(rules_.ignore_index);
        file_->check_whole();
        return counted;
    }

private:
    void pad(std::int64_t row, std::int64_t from, Batch& batch) const {
        const auto fill = [&](const Tensor& tensor, std::int32_t value) {
            std::int32_t* const begin = tensor.as<std::int32_t>().row(row);
            std::fill(begin + from, begin + rules_.seq_length, value);
        };
        fill(batch.inputs, rules_.pad_token);
        fill(batch.targets, rules_.ignore_index);
    }

    void check_tokens(std::int64_t begin, std::int64_t end) const {
        const std::int64_t beyond = file_->first_beyond(rules_.vocab, begin, end);
        file_->check_whole();
        if (beyond == end) return;
        throw bad_file(file_->source(),
                       fmt::format("token {} of {} is {}, but the model's "
                                   "vocabulary ends at {}",
                                   beyond, file_->size(), (*file_)[beyond], rules_.vocab - 1));
    }

    std::shared_ptr<const TokenFile> file_;
    TokenRules rules_;
};

class PackedTokens final : public TokenDataSet {
public:
    PackedTokens(std::shared_ptr<const TokenFile> tokens, const TokenRules& rules)
        : TokenDataSet(std::move(tokens), rules) {
        if (samples() < 1)
            throw bad_file(file().source(),
                           fmt::format("{} tokens are too few for one sequence of {} and its last "
                                       "target",
                                       file().size(), rules.seq_length));
    }

    std::int64_t samples() const override { return (file().size() - 1) / rules().seq_length; }
    std::int64_t read(std::int64_t sample, std::int64_t row, Batch& batch) const override {
        return show(sample * rules().seq_length, rules().seq_length, row, batch);
    }
    std::int64_t counted(std::int64_t sample) const override {
        return count(sample * rules().seq_length, rules().seq_length);
    }
};

class PaddedDocuments final : public TokenDataSet {
public:
    PaddedDocuments(std::shared_ptr<const TokenFile> tokens, std::int32_t end_of_text,
                    const TokenRules& rules)
        : TokenDataSet(std::move(tokens), rules) {
        std::vector<std::int64_t> ends = file().find(end_of_text);
        if (ends.empty() || ends.back() + 1 < file().size()) ends.push_back(file().size() - 1);
        std::int64_t first = 0;
        for (const std::int64_t end : ends) {
            const std::int64_t targets = std::min(end - first, rules.seq_length);
            if (targets > 0) documents_.push_back({first, targets});
            first = end + 1;
        }
        if (documents_.empty())
            throw bad_file(
                file().source(),
                fmt::format("none of its {} tokens has another after it in its document, "
                            "so there is nothing to predict",
                            file().size()));
    }

    std::int64_t samples() const override { return std::ssize(documents_); }
    std::int64_t read(std::int64_t sample, std::int64_t row, Batch& batch) const override {
        return show(documents_[sample].first, documents_[sample].targets, row, batch);
    }
    std::int64_t counted(std::int64_t sample) const override {
        return count(documents_[sample].first, documents_[sample].targets);
    }

private:
    struct Document {
        std::int64_t first;
        std::int64_t targets;
    };
    std::vector<Document> documents_;
};

}  // namespace

std::unique_ptr<DataSet> packed_tokens(std::shared_ptr<const TokenFile> file,
                                       const TokenRules& rules) {
    return std::make_unique<PackedTokens>(std::move(file), rules);
}

std::unique_ptr<DataSet> padded_documents(std::shared_ptr<const TokenFile> file,
                                          std::int32_t end_of_text, const TokenRules& rules) {
    return std::make_unique<PaddedDocuments>(std::move(file), end_of_text, rules);
}

}  // namespace debubble::exec
