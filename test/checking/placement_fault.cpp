// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_placement.hpp>

#include <doctest/doctest.h>

#include <ostream>
#include <set>
#include <sstream>
#include <string>

namespace this_test {

namespace {

using namespace sublet;

std::string sentence(placement_fault const& f)
{
    std::ostringstream out;
    out << f;
    return out.str();
}

} // namespace

TEST_CASE("a clash reads as a sentence with both buffers, the position and the bytes")
{
    placement_fault const f{.buffer = 3, .other = 7, .position = 12, .begin = 4096, .end = 8192, .pool = 1};
    CHECK(sentence(f) ==
          "buffers 3 and 7 are both alive at position 12 and share bytes [4096, 8192) of pool 1");
}

TEST_CASE("each fault has a sentence of its own that names what is wrong and what is asked")
{
    placement_fault f{
        .buffer = 3, .other = 7, .position = 12, .begin = 40, .end = 80, .needed = 64, .pool = 5};
    struct expected {
        placement_fault::kind what;
        char const* words;
    };
    std::set<std::string> sentences;
    for (expected e :
         {expected{placement_fault::kind::foreign, "not one of this problem"},
          {placement_fault::kind::wrong_pool, "buffer 3 lies in pool 5"},
          {placement_fault::kind::unplaced, "buffer 3 needs bytes"},
          {placement_fault::kind::needless, "an offset, 40"},
          {placement_fault::kind::misaligned, "not a multiple of its alignment 64"},
          {placement_fault::kind::off_pin, "pinned to 64"},
          {placement_fault::kind::torn, "(offset 40, not 64)"},
          {placement_fault::kind::wrong_height, "pool 5 ends at 80 and its height is given as 64"},
          {placement_fault::kind::clash, "bytes [40, 80) of pool 5"},
          {placement_fault::kind::wrong_bound, "pool 5 is given as 64"},
          {placement_fault::kind::wrong_status, "(pool 5)"},
          {placement_fault::kind::wrong_cost, "cost 80, and that is given as 64"},
          {placement_fault::kind::wrong_movement, "80 bytes have moved, and they are given as 64"}}) {
        f.what = e.what;
        std::string const text = sentence(f);
        CAPTURE(text);
        CHECK(text.find(e.words) != std::string::npos);
        CHECK(sentences.insert(text).second);
    }
}

} // namespace this_test
