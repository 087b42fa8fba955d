// expect: a listing is a program with options
// SPDX-License-Identifier: BSL-1.0

// A function that takes a program alone would lose what the listing says of its values.
#include <sublet/analysis/liveness.hpp>
#include <sublet/listing.hpp>

int main()
{
    sublet::listing<int> const list;
    return sublet::liveness(list).is_live_in(0, 0);
}
