// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/csv.hpp>

#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

namespace {

sublet::memory_plan::placed_buffer placed(sublet::value_id root, sublet::position_id first,
                                          sublet::position_id last, sublet::byte_count size,
                                          sublet::byte_count offset, sublet::pool_id pool = 0)
{
    return {.root = root, .life = {first, last}, .size = size, .pool = pool, .offset = offset};
}

sublet::memory_plan plan_of(std::vector<sublet::memory_plan::placed_buffer> buffers)
{
    sublet::memory_plan plan;
    plan.buffers = std::move(buffers);
    return plan;
}

std::string csv(sublet::memory_plan const& plan, sublet::csv_options const& options = {})
{
    std::ostringstream out;
    CHECK(&sublet::write_csv(out, plan, options) == &out);
    return out.str();
}

std::string row_of_name(std::string const& name)
{
    std::string const text =
        csv(plan_of({placed(0, 1, 2, 3, 4)}), {.names = [&](auto) -> auto& { return name; }});
    REQUIRE(text.starts_with("id,lower,upper,size,offset\n"));
    return text.substr(27);
}

/// The records of a file by the grammar of RFC 4180, one character after the other.
std::vector<std::vector<std::string>> records(std::string const& file)
{
    std::vector<std::vector<std::string>> result;
    std::vector<std::string> record;
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0; i != file.size(); ++i) {
        char const c = file[i];
        if (quoted) {
            if (c != '"') field += c;
            else if (i + 1 != file.size() && file[i + 1] == '"') field += file[++i];
            else quoted = false;
        } else if (c == '"') {
            REQUIRE(field.empty());
            quoted = true;
        } else if (c == ',' || c == '\n') {
            record.push_back(field);
            field.clear();
            if (c == '\n') {
                result.push_back(record);
                record.clear();
            }
        } else {
            REQUIRE(c != '\r');
            field += c;
        }
    }
    CHECK(!quoted);
    CHECK(field.empty());
    CHECK(record.empty());
    return result;
}

} // namespace

TEST_CASE("a plan is written with one row per buffer, in the order of the plan, with half-open live ranges")
{
    auto const plan = plan_of({placed(0, 0, 2, 64, 0), placed(2, 1, 3, 32, 64), placed(5, 2, 4, 64, 0)});
    CHECK(csv(plan) == "id,lower,upper,size,offset\n"
                       "0,0,2,64,0\n"
                       "2,1,3,32,64\n"
                       "5,2,4,64,0\n");
}

TEST_CASE("the id of a row is the name of the root value")
{
    std::vector<std::string> const names{"x", "conv1", "y"};
    CHECK(csv(plan_of({placed(1, 0, 2, 64, 0)}), {.names = [&](auto v) -> auto& { return names[v]; }}) ==
          "id,lower,upper,size,offset\nconv1,0,2,64,0\n");
    CHECK(csv(plan_of({placed(1, 0, 2, 64, 0)}), {.names = names}) ==
          "id,lower,upper,size,offset\nconv1,0,2,64,0\n");
    CHECK(csv(plan_of({placed(1, 0, 2, 64, 0)}), {.names = [](int v) { return 100 - v; }}) ==
          "id,lower,upper,size,offset\n99,0,2,64,0\n");
}

TEST_CASE("an empty plan gives a header only") { CHECK(csv({}) == "id,lower,upper,size,offset\n"); }

TEST_CASE("names that would break a row are quoted, others are not")
{
    CHECK(row_of_name("plain/name:0") == "plain/name:0,1,2,3,4\n");
    CHECK(row_of_name("") == ",1,2,3,4\n");
    CHECK(row_of_name("a b") == "a b,1,2,3,4\n");
    CHECK(row_of_name("a,b") == "\"a,b\",1,2,3,4\n");
    CHECK(row_of_name("say \"hi\"") == "\"say \"\"hi\"\"\",1,2,3,4\n");
    CHECK(row_of_name("\"") == "\"\"\"\",1,2,3,4\n");
    CHECK(row_of_name("two\nlines") == "\"two\nlines\",1,2,3,4\n");
    CHECK(row_of_name("two\rlines") == "\"two\rlines\",1,2,3,4\n");
    CHECK(row_of_name(" in front") == "\" in front\",1,2,3,4\n");
    CHECK(row_of_name("behind ") == "\"behind \",1,2,3,4\n");
}

TEST_CASE("a single pool can be written")
{
    auto const plan =
        plan_of({placed(0, 0, 2, 64, 0, 1), placed(1, 0, 2, 8, 0, 0), placed(2, 1, 3, 32, 64, 1)});
    CHECK(csv(plan, {.pool = 1}) == "id,lower,upper,size,offset\n0,0,2,64,0\n2,1,3,32,64\n");
    CHECK(csv(plan, {.names = [](auto) { return "b"; }, .pool = 0}) ==
          "id,lower,upper,size,offset\nb,0,2,8,0\n");
    CHECK(csv(plan, {.pool = 2}) == "id,lower,upper,size,offset\n");
    CHECK(csv(plan, {.pool = sublet::csv_options::every_pool}) == csv(plan));
}

TEST_CASE("a buffer of 0 bytes has no row, one without an offset has an empty field")
{
    auto const plan = plan_of({placed(0, 0, 2, 0, 0), placed(1, 0, 2, 8, sublet::no_offset)});
    CHECK(csv(plan) == "id,lower,upper,size,offset\n1,0,2,8,\n");
}

TEST_CASE("quantities of 64 bits are written in full")
{
    CHECK(csv(plan_of({placed(4294967294, 0, 4294967295, 5, 18446744073709551600u)})) ==
          "id,lower,upper,size,offset\n4294967294,0,4294967295,5,18446744073709551600\n");
}

TEST_CASE("written tables read back unchanged")
{
    random_source draw{std::mt19937(4180)};
    std::string const alphabet = "ab,\"\r\n ;'\xC3\xA4"; // 11 of them
    for (unsigned round = 0; round != rounds(200); ++round) {
        CAPTURE(round);
        sublet::memory_plan plan;
        std::vector<std::string> names;
        for (sublet::value_id v = 0, values = draw.below(20); v != values; ++v) {
            sublet::position_id const first = draw.below(50);
            std::uint32_t const length = draw.below(50);
            sublet::byte_count const size = 1 + draw.wide() / 2;
            plan.buffers.push_back(placed(v, first, first + length, size, draw.wide() / 2));
            names.emplace_back();
            for (auto n = draw.below(6); n != 0; --n) names.back() += alphabet[draw.below(11)];
        }
        auto const read = records(csv(plan, {.names = names}));
        REQUIRE(read.size() == plan.buffers.size() + 1);
        for (std::size_t i = 0; i != plan.buffers.size(); ++i) {
            auto const& b = plan.buffers[i];
            std::vector<std::string> const expected{names[i], std::to_string(b.life.first),
                                                    std::to_string(b.life.last), std::to_string(b.size),
                                                    std::to_string(b.offset)};
            CHECK(read[i + 1] == expected);
        }
    }
}

} // namespace this_test
