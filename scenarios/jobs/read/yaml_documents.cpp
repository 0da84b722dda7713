#include <fmt/format.h>

#include "scenarios/jobs/read/formats.h"
#include "text/document_readers.h"

namespace debubble::jobs {

text::NodePtr yaml_document(std::string text, const std::string& file, Reading& job) {
    std::vector<text::RepeatedKey> repeats;
    text::NodePtr document = text::parse_yaml_of_others(std::move(text), file, repeats);
    for (const text::RepeatedKey& one : repeats)
        job.note(
            fmt::format("{}:{} {} is given twice; this one counts, and that in line {} does not",
                        std::filesystem::path(file).filename().string(), one.place.line, one.key,
                        one.first_line));
    return document;
}

std::vector<text::NodePtr> yaml_documents(const JobText& text, Reading& job) {
    // Every document is read from a text in which the lines of the others are empty.
    std::vector<text::NodePtr> documents;
    std::string blank;
    std::string document;
    const auto close = [&] {
        if (document.find_first_not_of(" \n\r") != std::string::npos)
            documents.push_back(yaml_document(blank + document, text.file.string(), job));
        for (const char c : document)
            if (c == '\n') blank += '\n';
        document.clear();
    };
    for (std::size_t at = 0; at < text.text.size();) {
        const std::size_t end = std::min(text.text.find('\n', at), text.text.size() - 1);
        const std::string line = text.text.substr(at, end + 1 - at);
        at = end + 1;
        if (line.starts_with("---") && line.find_first_not_of("- \r\n") == std::string::npos) {
            close();
            blank += '\n';
            if (documents.size() > 20) break;
        } else {
            document += line;
        }
    }
    close();
    return documents;
}

}  // namespace debubble::jobs
