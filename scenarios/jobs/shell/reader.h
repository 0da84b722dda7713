#pragma once

#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/shell/value.h"

/// The reader behind follow_script(). Private to the folder.
namespace debubble::jobs {

enum class Truth { No, Yes, Unknown };

inline bool is_name_part(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
inline bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// "$NAME" of a variable that nothing sets.
bool is_unset_variable(const ShellText& text);

class ShellReader {
public:
    ShellReader(std::shared_ptr<const text::SourceText> source, const Started& started);
    ShellScript read();

private:
    // reader.cpp: lists of commands and what holds them together
    Truth list(const std::vector<std::string_view>& ends);
    Truth pipeline();
    Truth command();
    Truth single();
    Truth simple();
    bool assignment(bool in_command);
    void assign(const std::string& name, ShellVariable value, bool adds);
    void assign_element(const std::string& name, const std::string& index, ShellText value);
    void declare();
    void redirection(ShellCommand& command);
    Truth test_command(const std::vector<ShellText>& words);
    void finish(ShellCommand command);
    void end_command(const ShellCommand& command);

    // builtins.cpp: commands of the shell itself
    /// True if the words are such a command, which is carried out then.
    bool builtin(const ShellCommand& command);
    void follow_file(const ShellText& name);
    std::string joint() const;
    std::filesystem::path file_by_ending(const std::string& written, std::uint32_t offset);
    void print_into(const std::vector<ShellText>& words);
    void read_into(const std::vector<ShellText>& words);
    void set_arguments(const std::vector<ShellText>& words);
    Truth arithmetic_command();
    Truth arithmetic_part(std::size_t first, std::size_t end, std::size_t begin);

    // substitution.cpp: what commands print
    std::optional<ShellText> printed(std::size_t from, std::size_t to, std::uint32_t begin);
    std::optional<ShellText> output_of(const ShellCommand& command, std::string& folder,
                                       std::uint32_t begin);
    std::filesystem::path folder_here() const;

    // pieces.cpp: the files of a script
    std::size_t add_piece(std::shared_ptr<const text::SourceText> source);
    const ShellPiece& piece_at(std::size_t offset) const;

    // compound.cpp: commands that hold others
    Truth compound(std::string_view keyword);
    Truth conditional();
    enum class LoopKind { Words, While, Until };
    void loop(LoopKind kind);
    void conditional_loop(bool until, std::size_t begin);
    void arithmetic_loop(std::size_t begin);
    void leave_out(std::size_t begin);
    void choice();
    bool function(const std::string& name);
    void call(const std::string& name, const std::vector<ShellText>& words);

    // words.cpp: words
    struct Word {
        std::vector<ShellText> fields;
        bool has_quotes = false;
    };
    /// Where an expansion stands, which decides whether blanks in its value cut a word into fields.
    enum class Expands : std::uint8_t {
        Split,   ///< outside quotes: blanks end a field
        Joined,  ///< outside quotes, where no word is cut: the value of an assignment
        Quoted,  ///< in double quotes
    };
    /// A word with its expansions.
    Word word(Expands unquoted);
    ShellText whole_word();
    void quote(Word& word, ShellText& field, bool& has);
    void backquoted(Word& word, ShellText& field, bool& has, Expands how);
    ShellText quoted_region(std::size_t from, std::size_t to);
    ShellText unknown(std::string text, std::uint32_t begin) const;
    ShellVariable array();
    std::string name_here();

    // expansion.cpp: what is expanded in them
    void dollar(Word& word, ShellText& field, bool& has, Expands how);
    void braces(Word& word, ShellText& field, bool& has, Expands how);
    void substitute(Word& word, ShellText& field, bool& has, const std::vector<ShellText>& values,
                    Expands how, bool a_field_each = false);
    ShellText arithmetic(std::uint32_t begin);
    ShellText arithmetic_of(std::size_t first, std::size_t end, std::uint32_t begin);
    std::vector<ShellText> values_of(const std::string& name, std::string_view index,
                                     std::uint32_t begin, bool& set);
    ShellText region(std::size_t from, std::size_t to, std::uint32_t begin);
    ShellText argument(std::size_t number, std::uint32_t begin);
    std::vector<ShellText> changed(const std::vector<ShellText>& values, std::size_t from,
                                   std::size_t to, std::uint32_t begin, bool& known);

    // test.cpp: [[ ... ]] and [ ... ]
    Truth double_brackets();
    Truth evaluate(const std::vector<ShellText>& words);

    void blanks();       ///< blanks, continuation lines
    void blank_lines();  ///< these, comments and ends of lines too
    void comment();
    void line_end();  ///< passes the end of a line and the here-documents after it
    void here_documents();
    bool at_word(std::string_view word) const;
    bool at_separator() const;
    bool ended() const { return at_ >= end_; }
    char here(std::size_t ahead = 0) const {
        return at_ + ahead < end_ ? script_.text[at_ + ahead] : '\0';
    }
    /// The script up to where the part that is read ends.
    std::string_view text() const { return std::string_view(script_.text).substr(0, end_); }
    std::string slice(std::size_t from, std::size_t count) const {
        return std::string(text().substr(from, count));
    }
    std::size_t closing(char open, char close, std::string_view what);
    void count(std::size_t letters);
    [[noreturn]] void refuse(std::size_t at, std::string sentence) const;

    struct Document {
        std::string delimiter;
        bool expands = true;
        std::size_t command = 0;  ///< index of the command that reads it
        bool active = false;
    };
    struct Body {
        std::size_t begin = 0;  ///< offset of a function's {
        std::size_t end = 0;    ///< offset of the end of its piece
    };

    ShellScript script_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;  ///< offset after the part that is read
    bool active_ = true;   ///< commands have effects here
    bool leaves_ = false;  ///< a `break`, `continue` or `return` ended the commands around it
    bool breaks_ = false;  ///< it was `break`
    bool piped_ = false;   ///< a pipe joined commands
    int depth_ = 0;
    std::size_t letters_ = 0;  ///< made by expansions so far
    std::size_t steps_ = 0;
    std::map<std::string, Body, std::less<>> functions_;
    std::set<std::string, std::less<>> calling_;
    std::set<std::string> following_;  ///< sourced files that are being read
    std::map<std::string, ShellText> environment_;
    std::vector<ShellText> arguments_;
    bool has_arguments_ = false;
    std::vector<Document> documents_;  ///< here-documents that begin after this line
};

}  // namespace debubble::jobs
