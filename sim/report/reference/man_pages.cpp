#include "sim/report/reference/key_pages.h"

#include <fmt/format.h>

namespace debubble::sim {
namespace {

/// Lines that troff prints as they are.
std::string literal(std::string_view text) {
    std::string out = ".nf\n";
    bool at_start = true;
    for (const char c : text) {
        if (at_start && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
        at_start = c == '\n';
    }
    if (!out.ends_with('\n')) out += '\n';
    return out + ".fi\n";
}

std::string head(std::string_view title, int section, std::string_view summary,
                 std::string_view version) {
    return fmt::format(".TH {} {} \"\" \"debubble {}\"\n.SH NAME\n{} \\- {}\n", title, section,
                       version, title, summary);
}

}  // namespace

std::string verb_man_page(std::string_view verb, std::string_view summary, std::string_view help,
                          std::string_view version) {
    const std::string title =
        verb.empty() ? std::string("debubble") : fmt::format("debubble-{}", verb);
    return head(title, 1, summary, version) + ".SH DESCRIPTION\n" + literal(help) +
           ".SH SEE ALSO\n.BR debubble (1),\n.BR debubble-scenario (5)\n";
}

std::string keys_man_page(std::span<const text::Key> keys, std::string_view version) {
    std::string page = head("debubble-scenario", 5, "the keys of a scenario", version) +
                       ".SH DESCRIPTION\nA scenario is a YAML file. Its keys, by their paths:\n";
    for (const text::KeyAt& at : text::flattened(keys)) page += literal(key_text(at) + '\n');
    return page + ".SH SEE ALSO\n.BR debubble (1)\n";
}

}  // namespace debubble::sim
