#include "scenarios/jobs/formats.h"
#include "text/yaml_document_reader.h"

namespace debubble::jobs {

std::vector<text::NodePtr> yaml_documents(const JobText& text) {
    // Every document is read from a text in which the lines of the others are empty.
    std::vector<text::NodePtr> documents;
    std::string blank;
    std::string document;
    const auto close = [&] {
        if (document.find_first_not_of(" \n\r") != std::string::npos)
            documents.push_back(text::parse_yaml(blank + document, text.file.string()));
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
