// expect: sublet: the vertices of a graph need to be copyable and ordered by <
// SPDX-License-Identifier: BSL-1.0

#include <sublet/graph/program.hpp>

#include <utility>

struct place {};
struct map_of_places {};
std::pair<place const*, place const*> vertices(map_of_places const&) { return {}; }
std::pair<char const*, char const*> out_edges(place, map_of_places const&) { return {}; }
place target(char, map_of_places const&) { return {}; }

int main() { return !sublet::explain_graph<map_of_places>(); }
