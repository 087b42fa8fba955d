// expect: a listing is a program with options
// SPDX-License-Identifier: BSL-1.0

// A function that takes a program alone would lose what the listing says of its values.
#include <sublet/graph/snapshot.hpp>

#include <sublet/listing.hpp>

int main()
{
    sublet::listing<int> const list;
    sublet::snapshot const program = list;
    return program.nodes() != 0;
}
