#pragma once

#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/shell_value.h"

/// The reader behind follow_script(). Private to the folder.
namespace debubble::jobs {

enum class Truth { No, Yes, Unknown };

inline bool is_name_part(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
inline bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class ShellReader {
public:
    explicit ShellReader(std::shared_ptr<const text::SourceText> source);
    ShellScript read();

private:
    // shell_reader.cpp: lists of commands and what holds them together
    Truth list(const std::vector<std::string_view>& ends);
    Truth pipeline();
    Truth command();
    Truth single();
    Truth simple();
    bool assignment(bool in_command);
    void declare();
    Truth test_command(const std::vector<ShellText>& words);
    void finish(std::vector<ShellText> words);

    // shell_compound.cpp: commands that hold others
    Truth compound(std::string_view keyword);
    Truth conditional();
    void loop(bool over_words);
    void choice();
    bool function(const std::string& name);
    void call(const std::string& name);

    // shell_words.cpp: words
    struct Word {
        std::vector<ShellText> fields;
        bool has_quotes = false;
    };
    /// A word with its expansions, cut into fields at unquoted blanks if `split`.
    Word word(bool split);
    ShellText whole_word();
    void quote(Word& word, ShellText& field, bool& has);
    ShellText unknown(std::string text, std::uint32_t begin) const;
    ShellVariable array();
    std::string name_here();

    // shell_expansion.cpp: what is expanded in them
    void dollar(Word& word, ShellText& field, bool& has, bool quoted, bool split);
    void braces(Word& word, ShellText& field, bool& has, bool quoted, bool split);
    void substitute(Word& word, ShellText& field, bool& has, const std::vector<ShellText>& values,
                    bool quoted, bool split, bool whole);
    ShellText arithmetic(std::uint32_t begin);
    std::vector<ShellText> values_of(const std::string& name, std::string_view index,
                                     std::uint32_t begin, bool& set);
    ShellText default_of(std::string text, std::uint32_t begin);

    // shell_test.cpp: [[ ... ]] and [ ... ]
    Truth double_brackets();
    Truth evaluate(const std::vector<ShellText>& words);

    void blanks();       ///< blanks, continuation lines
    void blank_lines();  ///< these, comments and ends of lines too
    void comment();
    void line_end();  ///< passes the end of a line and the here-documents after it
    void here_documents();
    bool at_word(std::string_view word) const;
    bool at_separator() const;
    bool ended() const { return at_ >= text().size(); }
    char here(std::size_t ahead = 0) const {
        return at_ + ahead < text().size() ? text()[at_ + ahead] : '\0';
    }
    const std::string& text() const { return script_.source->text; }
    std::size_t closing(char open, char close, std::string_view what);
    void count(std::size_t letters);
    [[noreturn]] void refuse(std::size_t at, std::string sentence) const;

    ShellScript script_;
    std::size_t at_ = 0;
    bool active_ = true;  ///< commands have effects here
    int depth_ = 0;
    std::size_t letters_ = 0;  ///< made by expansions so far
    std::size_t steps_ = 0;
    std::map<std::string, std::size_t, std::less<>> functions_;
    std::set<std::string, std::less<>> calling_;
    std::vector<std::string>
        documents_;  ///< delimiters of here-documents that begin after this line
};

}  // namespace debubble::jobs
