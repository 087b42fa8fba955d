// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CFG_FILE_HPP
#define SUBLET_TEST_CFG_FILE_HPP

/// Control-flow graphs of real programs, read from text, one record a line:
///
///     F name blocks values parameters edges instructions    opens a function
///     B id successor ...                                    a block; ids ascend from 0
///     H def pred:value ...                                  a phi of the block; `-` is a constant
///     I def use ...                                         an instruction; `-` if it defines nothing
///
/// Values 0 .. parameters - 1 are the parameters. Phis count as instructions; a file that counts neither
/// edges nor instructions says 0 0. A file may be packed by gzip where zlib was found.

#include "../examples/statements.hpp"

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#ifdef SUBLET_HAS_ZLIB
#include <zlib.h>
#endif

namespace cfg_file {

using namespace sublet;
using statements::in_quotes;

struct phi_operand {
    node_id pred;
    value_id value;
    friend bool operator==(phi_operand, phi_operand) = default;
};

struct function {
    std::string name;
    std::size_t values = 0;
    std::size_t parameters = 0;
    csr_graph successors;                     ///< by block
    csr_rows<node_id, value_id> phis;         ///< by block: what they define
    std::vector<phi_operand> phi_operands;    ///< of all phis, constants left out
    std::vector<std::size_t> phi_operand_end; ///< by block
    std::vector<value_id> defs;               ///< by instruction; `no_value` for none
    csr_rows<std::uint32_t, value_id> uses;   ///< by instruction
    std::vector<std::uint32_t> instruction_end; ///< by block

    std::size_t blocks() const { return successors.rows(); }
    std::span<phi_operand const> phi_operands_of(std::size_t block) const
    {
        phi_operand const* const all = phi_operands.data();
        return {all + (block == 0 ? 0 : phi_operand_end[block - 1]), all + phi_operand_end[block]};
    }
    std::uint32_t first_instruction(std::size_t block) const
    {
        return block == 0 ? 0 : instruction_end[block - 1];
    }
};

/// A function as a program. Parameters and the phis of a block are written together, in a first step of their
/// own; then each instruction is a step, which uses its operands as `Use` says.
template <touch::access Use>
struct as_program {
    function const& source;

    std::size_t nodes() const { return source.blocks(); }
    std::size_t values() const { return source.values; }
    std::span<node_id const> successors(node_id n) const { return source.successors[n]; }
    static constexpr edge_meaning edges() { return edge_meaning::control_flow; }
    void effects(node_id n, effect_sink& sink) const
    {
        std::size_t const parameters = n == 0 ? source.parameters : 0;
        bool is_first = parameters == 0 && source.phis[n].empty();
        for (value_id v = 0; v != parameters; ++v) sink.def(v);
        for (value_id v : source.phis[n]) sink.def(v);
        for (phi_operand const& o : source.phi_operands_of(n)) sink.use_at_end_of(o.pred, o.value);
        for (std::uint32_t i = source.first_instruction(n); i != source.instruction_end[n]; ++i) {
            if (!std::exchange(is_first, false)) sink.next_step();
            for (value_id v : source.uses[i]) {
                if constexpr (Use == touch::access::use_early) sink.use_early(v);
                else sink.use(v);
            }
            sink.def(source.defs[i]);
        }
    }
};

/// The words of a line, one after another.
class words {
public:
    explicit words(std::string_view line) : rest_(line) {}

    bool done() const { return rest_.empty(); }
    std::string_view next()
    {
        std::size_t const end = rest_.find(' ');
        std::string_view const word = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
        if (word.empty()) throw std::runtime_error("the line ends too early");
        return word;
    }
    std::uint32_t number(std::string_view of_what) { return number_in(next(), of_what); }
    /// Or `no_value` for `-`.
    value_id value(std::size_t values) { return value_in(next(), values); }
    phi_operand operand(std::size_t blocks, std::size_t values)
    {
        std::string_view const word = next();
        std::size_t const colon = word.find(':');
        if (colon == std::string_view::npos) throw std::runtime_error(in_quotes(word) + " is not pred:value");
        node_id const pred = number_in(word.substr(0, colon), "a block");
        if (pred >= blocks) throw std::runtime_error("there is no block " + std::to_string(pred));
        return {pred, value_in(word.substr(colon + 1), values)};
    }

private:
    static std::uint32_t number_in(std::string_view word, std::string_view of_what)
    {
        std::uint32_t number = 0;
        auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size())
            throw std::runtime_error(in_quotes(word) + " is not " + std::string(of_what));
        return number;
    }
    static value_id value_in(std::string_view word, std::size_t values)
    {
        if (word == "-") return no_value;
        value_id const v = number_in(word, "a value");
        if (v >= values) throw std::runtime_error("there is no value " + std::to_string(v));
        return v;
    }

    std::string_view rest_;
};

/// Reads line by line, and compares each complete function with its announced counts.
class reader {
public:
    void take(std::string_view line)
    {
        words of(line);
        std::string_view const record = of.next();
        if (record == "F") return open_function(of);
        if (record != "B" && record != "H" && record != "I")
            throw std::runtime_error(in_quotes(record) + " is no record (F, B, H, I)");
        if (functions_.empty()) throw std::runtime_error("a function (F) must come first");
        function& f = functions_.back();
        if (record == "B") return open_block(f, of);
        if (f.blocks() == 0) throw std::runtime_error("a block (B) must come first");
        if (record == "I") {
            f.defs.push_back(of.value(f.values));
            while (!of.done())
                if (value_id const v = of.value(f.values); v != no_value) f.uses.append(v);
            f.uses.close_row();
        } else {
            if (f.defs.size() != block_begin_) throw std::runtime_error("a phi follows an instruction");
            value_id const def = of.value(f.values);
            if (def == no_value) throw std::runtime_error("a phi defines nothing");
            f.phis.append(def);
            while (!of.done())
                if (phi_operand const o = of.operand(blocks_, f.values); o.value != no_value)
                    f.phi_operands.push_back(o);
        }
    }
    std::vector<function> finish()
    {
        close_function();
        return std::move(functions_);
    }

private:
    void open_function(words of)
    {
        close_function();
        function f;
        f.name = of.next();
        blocks_ = of.number("a number of blocks");
        f.values = of.number("a number of values");
        f.parameters = of.number("a number of parameters");
        edges_ = of.number("a number of edges");
        instructions_ = of.number("a number of instructions");
        if (f.values > most_values)
            throw std::runtime_error("there are more values than " + std::to_string(most_values));
        if (f.parameters > f.values) throw std::runtime_error("there are more parameters than values");
        functions_.push_back(std::move(f));
    }
    void open_block(function& f, words of)
    {
        close_block();
        std::uint32_t const id = of.number("a block");
        if (id != f.blocks())
            throw std::runtime_error("block " + std::to_string(f.blocks()) + " must come next");
        if (id >= blocks_) throw std::runtime_error("the function has more blocks than it says");
        while (!of.done()) {
            node_id const to = of.number("a block");
            if (to >= blocks_) throw std::runtime_error("there is no block " + std::to_string(to));
            f.successors.append(to);
        }
        f.successors.close_row();
    }
    void close_block()
    {
        function& f = functions_.back();
        if (f.blocks() == 0) return;
        f.phis.close_row();
        f.phi_operand_end.push_back(f.phi_operands.size());
        f.instruction_end.push_back(static_cast<std::uint32_t>(f.defs.size()));
        block_begin_ = f.defs.size();
    }
    void close_function()
    {
        if (functions_.empty()) return;
        close_block();
        function const& f = functions_.back();
        bool const is_counted = edges_ != 0 || instructions_ != 0;
        std::string const found = counts(f.blocks(), f.successors.items(), f.phis.items() + f.defs.size());
        std::string const announced = counts(blocks_, edges_, instructions_);
        if (is_counted ? found != announced : f.blocks() != blocks_)
            throw std::runtime_error("blocks, edges, instructions of the function before are " + found +
                                     " and not " + announced);
        for (std::size_t n = 0; n != f.blocks(); ++n)
            for (phi_operand const& o : f.phi_operands_of(n)) {
                auto const to = f.successors[o.pred];
                if (std::find(to.begin(), to.end(), n) == to.end())
                    throw std::runtime_error("in the function before, block " + std::to_string(n) +
                                             " has a phi operand from block " + std::to_string(o.pred) +
                                             ", which does not lead there");
            }
        block_begin_ = 0;
    }
    static std::string counts(std::size_t blocks, std::size_t edges, std::size_t instructions)
    {
        return std::to_string(blocks) + ' ' + std::to_string(edges) + ' ' + std::to_string(instructions);
    }

    static constexpr std::size_t most_values = 1 << 24; // limit for invalid files

    std::vector<function> functions_;
    // Of the open function: its announced counts, and where the instructions of its open block begin.
    std::size_t blocks_ = 0, edges_ = 0, instructions_ = 0, block_begin_ = 0;
};

/// The functions in a text; `source` names it in errors. `damage` is the error that ended the text, if any.
/// Throws: std::runtime_error that names the line.
inline std::vector<function> functions_in(std::string_view text, std::string const& source,
                                          std::string const& damage = "")
{
    std::size_t number = 0;
    try {
        reader read;
        for (; !text.empty(); text.remove_prefix(std::min(text.size(), text.find('\n') + 1))) {
            ++number;
            std::size_t const end = text.find('\n');
            if (end == std::string_view::npos)
                throw std::runtime_error(damage.empty() ? "the line is cut off" : damage);
            read.take(text.substr(0, end));
        }
        ++number;
        if (!damage.empty()) throw std::runtime_error(damage);
        return read.finish();
    } catch (std::runtime_error const& e) {
        throw std::runtime_error(source + ": line " + std::to_string(number) + ": " + e.what());
    }
}

/// Throws: std::runtime_error if there is no such file, it is damaged or has no function; the sentence names
///         the line.
inline std::vector<function> functions_of(std::string const& file)
{
    std::string text, damage;
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) throw std::runtime_error(file + ": is a directory");
#ifdef SUBLET_HAS_ZLIB
    gzFile const in = gzopen(file.c_str(), "rb"); // reads unpacked files unchanged
    if (in == nullptr) throw std::runtime_error(file + ": cannot be opened");
    char piece[1 << 16];
    int got = 0;
    while ((got = gzread(in, piece, sizeof piece)) > 0) text.append(piece, static_cast<std::size_t>(got));
    int error = Z_OK;
    gzerror(in, &error);
    gzclose(in);
    if (got < 0 || error != Z_OK) damage = "the packed data is damaged from here on";
#else
    if (file.ends_with(".gz")) throw std::runtime_error(file + ": is packed, and this is built without zlib");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error(file + ": cannot be opened");
    text.assign(std::istreambuf_iterator<char>(in), {});
#endif
    std::vector<function> functions = functions_in(text, file, damage);
    if (functions.empty()) throw std::runtime_error(file + ": has no function");
    return functions;
}

} // namespace cfg_file

#endif
