// SPDX-License-Identifier: BSL-1.0
#include "foreign_tables.hpp"

#include "printed.hpp"
#include "random_placements.hpp"
#include "random_source.hpp"
#include "rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace pack;
using sublet::byte_count;
using sublet::live_range;
using sublet::no_offset;

std::string written(format to, lifetimes const& table, std::vector<byte_count> const& offset)
{
    std::ostringstream out;
    write_table(out, to, table, offset, {});
    return out.str();
}

lifetimes parsed(format from, std::string const& text)
{
    return from == format::idealloc ? parse_lifetimes(table_of_jobs(text))
                                    : parse_lifetimes(text, from != format::minimalloc);
}

/// The error message of a call; "none" without an error.
template <class Call>
std::string error_message(Call call)
{
    return thrown_by<input_error>(call, "none");
}

std::string job(std::vector<std::uint64_t> const& numbers)
{
    std::string bytes;
    for (std::uint64_t n : numbers)
        for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(n >> shift & 0xFF);
    return bytes;
}

std::string words(std::vector<std::int32_t> const& numbers)
{
    std::string bytes;
    for (std::int32_t n : numbers)
        for (int shift = 0; shift != 32; shift += 8)
            bytes += static_cast<char>(static_cast<std::uint32_t>(n) >> shift & 0xFF);
    return bytes;
}

/// A table with all columns of its problem, and an offset for each row.
struct drawn_table {
    lifetimes table;
    std::vector<byte_count> offset;
};

drawn_table draw_table(random_source& pick, bool has_gaps, unsigned threads, bool names)
{
    random_placement_shape shape = draw_placement_shape(pick);
    if (!has_gaps) shape.gaps = 0;
    auto problem = draw_placement(pick, shape);
    if (threads != 0) draw_clocks(pick, problem, threads);
    std::ostringstream text;
    text << "id,lower,upper,size,alignment,hint,gaps,kind\n";
    auto gap = problem.gaps.begin();
    drawn_table drawn;
    for (std::size_t b = 0; b != problem.buffers.size(); ++b) {
        auto const& its = problem.buffers[b];
        if (names) text << "\"n " << b << "\"\"\",";
        else text << 7 * b + 3 << ',';
        for (auto const* times : {&problem.clocks.begin, &problem.clocks.end}) {
            bool const is_end = times == &problem.clocks.end;
            if (threads == 0) text << (is_end ? its.life.last : its.life.first);
            for (std::size_t t = 0; t != threads; ++t)
                text << (t == 0 ? "" : ":") << (*times)[b * threads + t];
            text << ',';
        }
        text << its.size << ',' << its.alignment << ',';
        if (its.preferred != no_offset) text << its.preferred;
        text << ',';
        for (char const* before = ""; gap != problem.gaps.end() && gap->buffer == b; ++gap) {
            if (is_empty(gap->when)) continue;
            text << before << gap->when.first << '-' << gap->when.last;
            if (gap->begin != gap->end) text << '@' << gap->begin << ':' << gap->end;
            before = " ";
        }
        text << (pick.below(2) == 0 ? ",WORKSPACE\n" : ",\n");
        drawn.offset.push_back(pick.below(1u << 31));
    }
    drawn.table = parse_lifetimes(text.str());
    return drawn;
}

/// Rows of `table` that a format with `live_only` keeps.
std::vector<sublet::buffer_id> kept_rows(lifetimes const& table, bool live_only)
{
    std::vector<sublet::buffer_id> rows;
    for (std::size_t b = 0; b != table.rows.size(); ++b)
        if (!live_only || pack::detail::is_live(table, b)) rows.push_back(static_cast<sublet::buffer_id>(b));
    return rows;
}

lifetimes const three =
    parse_lifetimes("id,lower,upper,size,alignment\na,0,3,64,16\nb,2,5,24,1\nc,5,6,8,1\n");

} // namespace

TEST_CASE("three buffers in each format")
{
    std::vector<byte_count> const offset{0, 64, 256};
    CHECK(written(format::csv, three, offset) ==
          "id,lower,upper,size,alignment,offset\na,0,3,64,16,0\nb,2,5,24,1,64\nc,5,6,8,1,256\n");
    CHECK(written(format::minimalloc, three, offset) ==
          "id,lower,upper,size,alignment,offset\na,0,3,64,16,0\nb,2,5,24,1,64\nc,5,6,8,1,256\n");
    CHECK(written(format::omnimalloc, three, offset) ==
          "id,lower,upper,size,offset\r\na,0,3,64,0\r\nb,2,5,24,64\r\nc,5,6,8,256\r\n");
    CHECK(written(format::idealloc, three, offset) == job({0, 0, 6, 64, 0, 0, 16, 64}) +
                                                          job({1, 4, 10, 24, 0, 64, 0, 24}) +
                                                          job({2, 10, 12, 8, 0, 256, 0, 8}));
    CHECK(written(format::tflm, three, offset) == words({1, 0, 3, 0, 64, 256}));
}

TEST_CASE("an empty table has a header in text, and nothing in jobs")
{
    lifetimes const none = parse_lifetimes("id,lower,upper,size\n");
    CHECK(written(format::minimalloc, none, {}) == "id,lower,upper,size,offset\n");
    CHECK(written(format::omnimalloc, none, {}) == "id,lower,upper,size,offset\r\n");
    CHECK(written(format::idealloc, none, {}).empty());
    CHECK(written(format::tflm, none, {}) == words({1, 0, 0}));
    CHECK(parsed(format::idealloc, "").rows.empty());
}

TEST_CASE("MiniMalloc's table has each value, no quotes, and the columns that it needs")
{
    lifetimes const table = parse_lifetimes("id,start,end,size,alignment,hint,gaps,note\n"
                                            "a,0,8,64,,,2-3 5-5@0:16,x\n\"q \"\"\",1,2,8,4,12,,y\n");
    CHECK(written(format::minimalloc, table, {0, 64}) == "id,lower,upper,size,alignment,hint,gaps,offset\na,"
                                                         "0,9,64,1,-1,2-4 5-6@0:16,0\nq \",1,3,8,4,12,,64\n");
    lifetimes const raw = parsed(format::minimalloc, "id,lower,upper,size\n\"a\",0,1,4\n\",0,1,4\n");
    CHECK(raw.id_of(0) == "\"a\"");
    CHECK(raw.id_of(1) == "\"");
    CHECK(error_message([] {
              lost_in(format::minimalloc, parse_lifetimes("id,lower,upper,size\n\"a,b\",0,1,4\n"));
          }) == "the id 'a,b' of row 1 cannot be written as minimalloc");
}

TEST_CASE("omnimalloc's table keeps kinds, clocks and the offset of its pool")
{
    lifetimes const table = parse_lifetimes("# pool_offset=64\r\nid,lower,upper,size,offset,kind\r\n"
                                            "\"a,b\",3:0,5:2,4,,INPUT\r\nb,0:1,2:4,8,16,\r\n");
    CHECK(table.pool_offset == "# pool_offset=64");
    CHECK(table.unused.empty());
    CHECK(table.problem.buffers[1].pinned == 16);
    CHECK(written(format::omnimalloc, table, {0, 16}) ==
          "# pool_offset=64\r\nid,lower,upper,size,offset,kind\r\n"
          "\"a,b\",3:0,5:2,4,0,INPUT\r\nb,0:1,2:4,8,16,\r\n");
    CHECK(written(format::csv, table, {0, 16}) == "# pool_offset=64\r\nid,lower,upper,size,offset,kind\r\n"
                                                  "\"a,b\",3:0,5:2,4,0,INPUT\r\nb,0:1,2:4,8,16,\r\n");
    CHECK(error_message([] { (void)parse_lifetimes("# pool_offset=1\n"); }) == "line 2: there is no header");
    CHECK(error_message([] { (void)parse_lifetimes("# pool_offset=1\nid,lower,upper\n"); }) ==
          "line 2: there is no column 'size'");
}

TEST_CASE("idealloc's jobs are read with their times, or the ranks of times beyond 32 bits")
{
    lifetimes const table = parsed(format::idealloc, job({5, 2, 9, 64, 3, 1000, 16, 60}) +
                                                         job({5, 0, 4294967294, 8, 3, 0, 0, 8}));
    REQUIRE(table.rows.size() == 2);
    CHECK(table.id_of(0) == "5");
    CHECK(table.problem.buffers[0].life == live_range{2, 9});
    CHECK(table.problem.buffers[0].size == 64);
    CHECK(table.problem.buffers[0].alignment == 16);
    CHECK(table.problem.buffers[0].pinned == no_offset);
    CHECK(table.problem.buffers[1].life == live_range{0, 4294967294});
    CHECK(table.problem.buffers[1].alignment == 1);
    std::uint64_t const far = std::uint64_t{1} << 40;
    lifetimes const ranks =
        parsed(format::idealloc, job({0, 7, far, 8, 0, 0, 0, 8}) + job({1, far, far + 7, 8, 0, 0, 0, 8}));
    CHECK(ranks.problem.buffers[0].life == live_range{0, 1});
    CHECK(ranks.problem.buffers[1].life == live_range{1, 2});
}

TEST_CASE("an id that is a different number in each row is kept by jobs and names the tensor of offsets")
{
    lifetimes const table = parse_lifetimes("id,lower,upper,size\n9,0,2,8\n4,0,2,8\n");
    CHECK(written(format::idealloc, table, {0, 8}) ==
          job({9, 0, 2, 8, 0, 0, 0, 8}) + job({4, 0, 2, 8, 0, 8, 0, 8}));
    CHECK(written(format::tflm, table, {0, 8}) == words({1, 0, 10, -1, -1, -1, -1, 8, -1, -1, -1, -1, 0}));
    for (char const* other : {"4", "04", "+4", "a", "", "1000000", "18446744073709551616"}) {
        lifetimes const rows =
            parse_lifetimes("id,lower,upper,size\n4,0,2,8\n" + std::string(other) + ",0,2,8\n");
        CHECK(written(format::tflm, rows, {0, 8}) == words({1, 0, 2, 0, 8}));
    }
}

TEST_CASE("offsets are pins of a table, and tensors without a row keep none")
{
    lifetimes table = parse_lifetimes("id,lower,upper,size\n1,0,2,8\n2,0,2,8\n3,0,2,0\n");
    offline_offsets const given = read_offline_offsets(words({0, 2, 6, 64, 128, -1, 0, 5, -1}));
    pin(table, given);
    CHECK(table.problem.buffers[0].pinned == 128);
    CHECK(table.problem.buffers[1].pinned == no_offset);
    std::ostringstream out;
    write_table(out, format::tflm, table, {128, 0, 0}, given);
    CHECK(out.str() == words({1, 2, 6, -1, 128, 0, -1, -1, -1}));
    CHECK(error_message([&] { pin(table, read_offline_offsets(words({1, 0, 2, 0, 0}))); }) ==
          "row 2 is tensor 2, and there are offsets of 2");
    CHECK(error_message([&] { (void)written(format::tflm, table, {0, byte_count{1} << 31, 0}); }) ==
          "row 2: its offset, 2147483648, does not fit the 32 bits of tflm");
}

TEST_CASE("what a format has not is named, or refused if the placement would look invalid")
{
    CHECK(lost_in(format::omnimalloc, three) ==
          std::vector<std::string>{"alignments left out: omnimalloc has none"});
    CHECK(lost_in(format::minimalloc, three).empty());
    CHECK(lost_in(format::idealloc, three).empty());
    CHECK(lost_in(format::tflm, three).empty());
    lifetimes const idle =
        parse_lifetimes("id,lower,upper,size,alignment\na,0,0,8,1\nb,0,2,0,1\nc,0,2,9,8\n");
    CHECK(lost_in(format::idealloc, idle) ==
          std::vector<std::string>{"2 rows without bytes or lifetime left out: idealloc has none",
                                   "alignment left out in 1 row: idealloc needs sizes that are multiples"});
    CHECK(written(format::idealloc, idle, {0, 0, 8}) == job({2, 0, 2, 9, 0, 8, 0, 9}));
    CHECK(written(format::omnimalloc, idle, {0, 0, 8}) == "id,lower,upper,size,offset\r\nc,0,2,9,8\r\n");
    CHECK(written(format::tflm, idle, {0, 0, 8}) == words({1, 0, 3, -1, -1, 8}));
    lifetimes const gaps = parse_lifetimes("id,lower,upper,size,gaps\na,0,9,8,3-4\n");
    for (format to : {format::omnimalloc, format::idealloc})
        CHECK(error_message([&] { lost_in(to, gaps); }) == "gaps cannot be written as " + name_of(to));
    lifetimes const clocks = parse_lifetimes("id,lower,upper,size\na,0:0,1:1,8\n");
    for (format to : {format::minimalloc, format::idealloc})
        CHECK(error_message([&] { lost_in(to, clocks); }) ==
              "lifetimes of several threads cannot be written as " + name_of(to));
    CHECK(lost_in(format::tflm, clocks).empty());
}

TEST_CASE("bad jobs and bad offsets are refused with one sentence")
{
    auto jobs = [](std::string const& bytes) { return error_message([&] { (void)table_of_jobs(bytes); }); };
    CHECK(jobs(std::string(63, '\0')) == "it has 63 bytes, which are no whole number of jobs of 64 bytes");
    CHECK(jobs(job({0, 3, 3, 8, 0, 0, 0, 8})) == "job 1: its death, 3, is not after its birth, 3");
    CHECK(jobs(job({0, 0, 3, ~std::uint64_t{0}, 0, 0, 0, 8})) ==
          "job 1: a size or alignment is more than 4611686018427387903");
    CHECK(jobs(job({0, 0, 3, 8, 1, 0, 0, 8}) + job({0, 0, 3, 8, 2, 0, 0, 8})) ==
          "job 2: its heap is another one than that of the first job");
    auto offsets = [](std::string const& bytes) {
        return error_message([&] { (void)read_offline_offsets(bytes); });
    };
    CHECK(offsets("") == "it is shorter than its header of 12 bytes");
    CHECK(offsets(words({2, 0, 0})) == "its version is 2, and only 0 and 1 are known");
    CHECK(offsets(words({1, -1, 0})) == "its subgraph is -1");
    CHECK(offsets(words({1, 0, -1})) == "it says -1 tensors, and has 0 bytes for their offsets");
    CHECK(offsets(words({1, 0, 2147483647, 0})) ==
          "it says 2147483647 tensors, and has 4 bytes for their offsets");
    CHECK(offsets(words({1, 0, 1, 0}) + "x") == "it says 1 tensors, and has 5 bytes for their offsets");
    CHECK(offsets(words({1, 0, 1, -2})) == "the offset of tensor 0 is -2");
}

TEST_CASE("random tables are read as they were written, in each format")
{
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(1000); ++seed) {
        for (format to : {format::csv, format::minimalloc, format::omnimalloc, format::idealloc}) {
            CAPTURE(seed);
            CAPTURE(name_of(to));
            random_source pick{std::mt19937(seed)};
            bool const takes_gaps = to == format::csv || to == format::minimalloc;
            bool const takes_clocks = to == format::csv || to == format::omnimalloc;
            bool const live_only = to == format::omnimalloc || to == format::idealloc;
            unsigned const threads = takes_clocks && pick.below(2) == 0 ? 2 + pick.below(3) : 0;
            bool const names = to != format::idealloc && pick.below(2) == 0;
            auto const [table, offset] = draw_table(pick, takes_gaps && threads == 0, threads, names);
            CHECK_NOTHROW(lost_in(to, table));
            std::string const text = written(to, table, offset);
            lifetimes const again = parsed(to, text);
            std::vector<sublet::buffer_id> const rows = kept_rows(table, live_only);
            REQUIRE(again.rows.size() == rows.size());
            bool has_short = false;
            for (auto const& b : table.problem.buffers) has_short = has_short || length(b.life) == 1;
            std::uint32_t const scale = to == format::idealloc && has_short ? 2 : 1;
            for (std::size_t i = 0; i != rows.size(); ++i) {
                auto const &before = table.problem.buffers[rows[i]], &after = again.problem.buffers[i];
                CHECK(again.id_of(static_cast<sublet::buffer_id>(i)) == table.id_of(rows[i]));
                CHECK(after.life == live_range{scale * before.life.first, scale * before.life.last});
                CHECK(after.size == before.size);
                if (to != format::idealloc) CHECK(after.pinned == offset[rows[i]]);
                if (to != format::omnimalloc && before.size % before.alignment == 0)
                    CHECK(after.alignment == before.alignment);
                if (to == format::csv || to == format::minimalloc) CHECK(after.preferred == before.preferred);
                for (std::size_t t = 0; t != threads; ++t) {
                    CHECK(again.problem.clocks.begin[i * threads + t] ==
                          table.problem.clocks.begin[rows[i] * threads + t]);
                    CHECK(again.problem.clocks.end[i * threads + t] ==
                          table.problem.clocks.end[rows[i] * threads + t]);
                }
                if (to == format::idealloc)
                    CHECK(pack::detail::big_endian(std::string_view(text).substr(64 * i + 40, 8)) ==
                          offset[rows[i]]);
            }
            auto is_same = [](auto const& a, auto const& b) {
                return a.buffer == b.buffer && a.when == b.when && a.begin == b.begin && a.end == b.end;
            };
            CHECK(std::equal(again.problem.gaps.begin(), again.problem.gaps.end(), table.problem.gaps.begin(),
                             table.problem.gaps.end(), is_same));
            if (to == format::idealloc) continue;
            std::vector<byte_count> offsets;
            for (auto const& b : again.problem.buffers) offsets.push_back(b.pinned);
            CHECK(written(to, again, offsets) == text);
        }
    }
}

TEST_CASE("random offsets are pins again")
{
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto [table, offset] = draw_table(pick, true, 0, pick.below(2) == 0);
        std::string const bytes = written(format::tflm, table, offset);
        offline_offsets const read = read_offline_offsets(bytes);
        pin(table, read);
        for (std::size_t b = 0; b != table.rows.size(); ++b)
            if (pack::detail::is_live(table, b)) CHECK(table.problem.buffers[b].pinned == offset[b]);
        std::ostringstream again;
        write_offline_offsets(again, read);
        CHECK(again.str() == bytes);
    }
}

TEST_CASE("damaged jobs and offsets are read or refused")
{
    std::size_t read = 0, refused = 0;
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const [table, offset] = draw_table(pick, false, 0, false);
        for (format to : {format::idealloc, format::tflm}) {
            std::string bytes = written(to, table, offset);
            for (std::uint32_t changes = pick.below(3); changes != 0 && !bytes.empty(); --changes) {
                std::size_t const at = pick.below(static_cast<std::uint32_t>(bytes.size()));
                if (pick.below(4) == 0) bytes.resize(at);
                else bytes[at] = static_cast<char>(pick.below(256));
            }
            try {
                if (to == format::idealloc) (void)parsed(to, bytes);
                else (void)read_offline_offsets(bytes);
                ++read;
            } catch (input_error const&) {
                ++refused;
            }
        }
    }
    if (rounds(1000) < 1000) return;
    CHECK(read > 100);
    CHECK(refused > 100);
}
