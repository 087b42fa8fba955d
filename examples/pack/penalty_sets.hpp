// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_PENALTY_SETS_HPP
#define SUBLET_EXAMPLES_PACK_PENALTY_SETS_HPP

/// Reads instances of placement with penalties for reuse, a fact a line, and an empty line after each:
///
///     instance NAME [best_known [COST [proved]]]    the lowest cost that others have found
///     pool ID CAPACITY [reserved BEGIN:END]         bytes that nothing may take
///     buffer ID pool ID size BYTES align BYTES live FIRST:LAST ...    several ranges have holes between them
///     apart A B                                     may never share a byte
///     penalty A B COST                              paid if they share a byte
///     pinned A OFFSET
///
/// Numbers of pools and buffers are any; each is defined before it is named. A reserved range becomes a
/// buffer that is pinned there. A word that is not kept is an error with its line: several pools of a buffer,
/// `colocated` and `never_at_once`.

#include "csv_rows.hpp"

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pack {

struct penalty_instance {
    std::string name;
    std::optional<sublet::byte_count> best_known = std::nullopt;
    sublet::placement_problem problem = {};
};

namespace detail {

/// The words of a line, in order.
class fact_words {
public:
    fact_words(std::string const& text, std::size_t line) : line_(line)
    {
        std::istringstream all(text);
        for (std::string word; all >> word;) words_.push_back(word);
    }
    bool is_at_end() const { return next_ == words_.size(); }
    std::string word()
    {
        if (is_at_end()) fail("it ends too early");
        return words_[next_++];
    }
    void expect(std::string_view wanted)
    {
        std::string const found = word();
        if (found != wanted) fail("'" + std::string(wanted) + "' is needed, not " + in_quotes(found));
    }
    std::uint64_t number() { return number_of(word()); }
    std::pair<std::uint64_t, std::uint64_t> range()
    {
        std::string const all = word();
        std::size_t const colon = all.find(':');
        if (colon == std::string::npos) fail(in_quotes(all) + " is no range BEGIN:END");
        std::pair<std::uint64_t, std::uint64_t> const read{number_of(all.substr(0, colon)),
                                                           number_of(all.substr(colon + 1))};
        if (read.first > read.second) fail(in_quotes(all) + " ends before it begins");
        return read;
    }
    void expect_end() const
    {
        if (!is_at_end()) fail(in_quotes(words_[next_]) + " is not expected");
    }
    [[noreturn]] void fail(std::string const& why) const
    {
        throw input_error("line " + std::to_string(line_) + ": " + why);
    }

private:
    std::uint64_t number_of(std::string const& text) const
    {
        std::uint64_t read = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
        if (error != std::errc{} || end != text.data() + text.size())
            fail(in_quotes(text) + " is not a whole number");
        if (read >= std::uint64_t{1} << 62) fail(in_quotes(text) + " has more than 62 bits");
        return read;
    }

    std::vector<std::string> words_;
    std::size_t next_ = 0, line_;
};

/// Reads one instance, line by line.
class penalty_reader {
public:
    explicit penalty_reader(penalty_instance& to) : to_(to) {}

    void read(std::string const& keyword, fact_words& words)
    {
        if (keyword == "pool") read_pool(words);
        else if (keyword == "buffer") read_buffer(words);
        else if (keyword == "apart" || keyword == "penalty") {
            sublet::buffer_id const a = buffer(words), b = buffer(words);
            if (a == b) words.fail("a buffer cannot share bytes with itself");
            auto const cost = keyword == "apart" ? sublet::no_limit : words.number();
            if (to_.problem.buffers[a].pool == to_.problem.buffers[b].pool)
                to_.problem.penalties.push_back({a, b, cost});
        } else if (keyword == "pinned") {
            sublet::buffer_id const b = buffer(words);
            to_.problem.buffers[b].pinned = words.number();
        } else {
            words.fail("'" + keyword + "' is not kept");
        }
        words.expect_end();
    }

    /// Reserved ranges become buffers.
    void end()
    {
        for (auto const& [pool, range] : reserved_)
            to_.problem.buffers.push_back({.life = {0, last_},
                                           .size = range.second - range.first,
                                           .pool = pool,
                                           .pinned = range.first});
    }

private:
    void read_pool(fact_words& words)
    {
        auto const id = sublet::pool_id::of(to_.problem.pools.size());
        if (!pools_.emplace(words.number(), id).second) words.fail("a second pool has this number");
        to_.problem.pools.push_back({.capacity = words.number()});
        if (words.is_at_end()) return;
        words.expect("reserved");
        auto const range = words.range();
        if (range.first != range.second) reserved_.push_back({id, range});
    }
    void read_buffer(fact_words& words)
    {
        sublet::placement_problem& problem = to_.problem;
        auto const id = sublet::buffer_id::of(problem.buffers.size());
        if (!buffers_.emplace(words.number(), id).second) words.fail("a second buffer has this number");
        words.expect("pool");
        std::string const pool = words.word();
        if (pool.find(',') != std::string::npos) words.fail("a buffer of several pools is not kept");
        std::uint64_t number = 0;
        auto const [end, error] = std::from_chars(pool.data(), pool.data() + pool.size(), number);
        bool const is_number = error == std::errc{} && end == pool.data() + pool.size();
        if (!is_number || pools_.count(number) == 0) words.fail("there is no pool " + in_quotes(pool));
        words.expect("size");
        sublet::placement_problem::buffer read;
        read.pool = pools_.at(number);
        read.size = words.number();
        words.expect("align");
        read.alignment = words.number();
        if (read.alignment == 0) words.fail("an alignment of 0");
        words.expect("live");
        do {
            auto const range = words.range();
            if (range.second >= sublet::no_step) words.fail("a position has more than 32 bits");
            sublet::live_range const next{static_cast<std::uint32_t>(range.first),
                                          static_cast<std::uint32_t>(range.second)};
            if (!is_empty(read.life) && next.first < read.life.last)
                words.fail("the ranges of a buffer are not in order");
            if (!is_empty(read.life) && next.first > read.life.last)
                problem.gaps.push_back({id, {read.life.last, next.first}, 0, 0});
            read.life = hull(read.life, next);
        } while (!words.is_at_end());
        if (read.life.last > last_) last_ = read.life.last;
        problem.buffers.push_back(read);
    }
    sublet::buffer_id buffer(fact_words& words) const
    {
        auto const found = buffers_.find(words.number());
        if (found == buffers_.end()) words.fail("there is no such buffer");
        return found->second;
    }

    penalty_instance& to_;
    std::map<std::uint64_t, sublet::pool_id> pools_ = {};
    std::map<std::uint64_t, sublet::buffer_id> buffers_ = {};
    std::vector<std::pair<sublet::pool_id, std::pair<std::uint64_t, std::uint64_t>>> reserved_ = {};
    sublet::position_id last_ = 1;
};

} // namespace detail

/// Throws: input_error.
inline std::vector<penalty_instance> read_penalties(std::string const& text)
{
    std::vector<penalty_instance> all;
    std::optional<detail::penalty_reader> reader;
    std::istringstream lines(text);
    std::size_t line = 0;
    auto end = [&reader] {
        if (reader) reader->end();
        reader.reset();
    };
    for (std::string row; std::getline(lines, row);) {
        detail::fact_words words(row, ++line);
        if (words.is_at_end()) {
            end();
            continue;
        }
        std::string const keyword = words.word();
        if (keyword != "instance") {
            if (!reader) words.fail("'instance' is needed first, not " + in_quotes(keyword));
            reader->read(keyword, words);
            continue;
        }
        end();
        all.push_back({words.word()});
        if (!words.is_at_end()) {
            words.expect("best_known");
            if (!words.is_at_end()) all.back().best_known = words.number();
            if (!words.is_at_end()) words.expect("proved");
        }
        words.expect_end();
        reader.emplace(all.back());
    }
    end();
    return all;
}

} // namespace pack

#endif
