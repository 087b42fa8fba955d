// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_COMMAND_LINE_HPP
#define SUBLET_EXAMPLES_COMMAND_LINE_HPP

/// Reads the words of a command line. An operand of an option is the next word, or follows `=`.
///
///     --svg plan.svg    --svg=plan.svg    the option --svg with the operand plan.svg
///     --sgv plan.svg                      unknown; near to --svg, which the usage text names
///
/// The usage text of a program is the list of its options.

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

// Without quotes in the compile command, which tools split in different ways.
#define SUBLET_EXAMPLES_TEXT_OF(number) #number
#define SUBLET_EXAMPLES_TEXT(macro) SUBLET_EXAMPLES_TEXT_OF(macro)

namespace command_line {

/// What --version prints. The version is that of the project, from its CMakeLists.txt.
inline std::string version_of(std::string_view program)
{
    return std::string(program) + " (sublet) " + SUBLET_EXAMPLES_TEXT(SUBLET_EXAMPLES_VERSION) + '\n';
}

/// The fewest insertions, removals, replacements and swaps of neighbours that make one of the other.
/// Complexity: O(a * b).
inline std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::array<std::vector<std::size_t>, 3> rows; // two rows back, the row before, the current one
    for (auto& row : rows) row.resize(b.size() + 1);
    auto& [older, before, now] = rows;
    for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        older.swap(before);
        before.swap(now);
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            now[j] = std::min({before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], older[j - 2] + 1);
        }
    }
    return now[b.size()];
}

/// The option in the usage text that is nearest to an unknown one; empty if none is near. Near: one begins
/// with the other, or they differ in at most a third of the letters.
inline std::string nearest_option(std::string_view unknown, std::string_view usage_text)
{
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz-";
    std::string nearest;
    std::size_t least = ~std::size_t{0};
    for (std::size_t at = usage_text.find("--"); at != usage_text.npos; at = usage_text.find("--", at)) {
        std::string_view const option = usage_text.substr(
            at, std::min(usage_text.find_first_not_of(letters, at), usage_text.size()) - at);
        at += option.size();
        if (option.size() < 4) continue;
        bool const is_begun =
            unknown.size() > 3 && (option.starts_with(unknown) || unknown.starts_with(option));
        std::size_t const distance = edit_distance(unknown, option);
        if (distance < least && (is_begun || distance <= std::max<std::size_t>(1, (option.size() - 2) / 3))) {
            least = distance;
            nearest = option;
        }
    }
    return nearest;
}

/// The words of a command line, one after the other. A mistake is thrown as an Error of one sentence.
template <class Error>
class reader {
public:
    /// `words` begin with the program's name.
    reader(int count, char const* const* words, std::string_view usage_text)
        : end_(words + count), word_(words), usage_(usage_text)
    {
        if (count == 0) --word_;
    }

    /// Whether there is a next word, which is read.
    /// Throws: Error if the word before is `--option=value`, and operand() was not called.
    bool next()
    {
        if (is_operand_left_) throw Error("option " + name_ + " takes no operand");
        if (++word_ >= end_) return false;
        name_ = *word_;
        std::size_t const cut = name_.find('=');
        is_operand_left_ = is_option() && cut != name_.npos;
        if (is_operand_left_) {
            operand_ = name_.substr(cut + 1);
            name_.resize(cut);
        }
        return true;
    }

    /// The option without its operand, or the whole word if it is none.
    std::string const& name() const { return name_; }
    /// The word begins with a minus, and is not only that.
    bool is_option() const { return name_.size() > 1 && name_[0] == '-'; }

    /// Throws: Error if there is none, or it is empty.
    std::string operand()
    {
        if (!is_operand_left_ && ++word_ < end_) operand_ = *word_;
        else if (!is_operand_left_) operand_.clear();
        is_operand_left_ = false;
        if (operand_.empty()) throw Error("option " + name_ + " needs an operand (see --help)");
        return operand_;
    }

    /// The end of a sentence about an unknown option: which one was meant, if one is near, and where all are.
    std::string hint() const
    {
        std::string const near = nearest_option(name_, usage_);
        return (near.empty() ? "" : ", did you mean '" + near + "'?") + " (see --help)";
    }

private:
    char const* const* end_;
    char const* const* word_;
    std::string_view usage_;
    std::string name_, operand_;
    bool is_operand_left_ = false; // behind =
};

/// Runs a program of one file: `read` gives its arguments, for which `run` writes an answer. Returns its
/// status: 0, or 2 if one of both throws; then it prints one line instead of any output.
template <class Read, class Run>
int answer(std::string_view program, std::string_view usage_text, std::ostream& out, std::ostream& err,
           Read read, Run run)
{
    std::string about;
    try {
        auto const args = read();
        if (args.help) return out << usage_text, 0;
        if (args.version) return out << version_of(program), 0;
        about = args.file + ": ";
        std::ostringstream all;
        run(args, all);
        out << all.str();
        return 0;
    } catch (std::exception const& e) {
        err << program << ": " << about << e.what() << '\n';
        return 2;
    }
}

} // namespace command_line

#endif
