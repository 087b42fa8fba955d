// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_SMALL_NETWORKS_HPP
#define SUBLET_BENCH_SMALL_NETWORKS_HPP

/// Networks of a few hundred kilobytes with the structure of the bench's: skip connections, branches, views
/// and updates in place.

#include "network_maker.hpp"

#include <utility>
#include <vector>

namespace bench {

inline plan_model::network small_network(training_options const& options)
{
    network_maker make(options);
    auto convolved = [&make](feature x, byte_count channels) {
        return make.relu(make.batch_norm(make.convolution(x, channels, 3)));
    };
    feature x = make.max_pool(convolved(make.input(3, 9, 9), 4), 2);
    for (int block = 0; block != 3; ++block) {
        x = make.relu(make.add(convolved(convolved(x, 4), 4), x));
        x = make.concatenation({convolved(x, 2), convolved(x, 1), make.max_pool(convolved(x, 1), 1)});
    }
    return std::move(make).finish(make.linear(make.mean(x), 5));
}

/// Forward only, then trained.
inline std::vector<plan_model::network> small_networks()
{
    std::vector<plan_model::network> all;
    all.push_back(small_network({.batch = 1, .trains = false}));
    all.push_back(small_network({.batch = 3, .trains = true}));
    return all;
}

} // namespace bench

#endif
