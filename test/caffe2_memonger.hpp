// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CAFFE2_MEMONGER_HPP
#define SUBLET_TEST_CAFFE2_MEMONGER_HPP

/// What Caffe2's memonger (`memonger.cc`, Facebook 2016) does to a net, reimplemented as a baseline for
/// plans. Only for nets that it handles correctly: one head, each value written once and by an operation that
/// the head reaches, operations listed in an order in which they can run.
///
/// It traverses depth first from the head. An operation is entered when its last operand is available, with
/// the tokens of its predecessor and of all earlier ones; each successor of a fork gets a token. A result
/// takes the storage of a value that all readers have read, if all tokens of the operations that touched that
/// storage are available. Storage that becomes free below one reader of the head is lost below the next.

#include <sublet/core/units.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

struct caffe2_net {
    using ids = std::vector<sublet::value_id>;
    std::vector<ids> inputs, outputs;      ///< by operation; no weights among them
    std::vector<sublet::byte_count> bytes; ///< by value
    sublet::value_id head = 0;
};

struct caffe2_memonger {
    caffe2_net net;
    bool by_size;                          ///< whether it knows the sizes
    std::vector<sublet::value_id> storage; ///< by value: the value that owns its storage; initially itself

    caffe2_memonger(caffe2_net the_net, bool is_told_sizes)
        : net(std::move(the_net)), by_size(is_told_sizes), readers_(net.bytes.size()),
          readers_left_(net.bytes.size()), times_shared_(net.bytes.size()), needed_(net.bytes.size()),
          awaited_(net.inputs.size()), arrived_(net.inputs.size()), visited_(net.inputs.size()),
          deposits_(net.inputs.size()), known_size_(net.bytes.size())
    {
        for (sublet::value_id v = 0; v != net.bytes.size(); ++v) storage.push_back(v);
        for (std::size_t op = 0; op != net.inputs.size(); ++op)
            for (auto v : net.inputs[op]) {
                readers_[v].push_back(op);
                ++readers_left_[v];
                if (v != net.head) ++awaited_[op];
            }
        for (std::size_t op : readers_[net.head])
            if (!visited_[op]) {
                std::vector<free_storage> free;
                visit(op, {next_token_++}, free);
            }
    }

    std::size_t slots() const { return sizes().size(); }
    sublet::byte_count total_bytes() const
    {
        sublet::byte_count sum = 0;
        for (auto [id, size] : sizes()) sum += size;
        return sum;
    }

private:
    using tokens = std::set<int>;
    using free_storage = std::pair<int, sublet::value_id>; // minus the times it was shared, and its owner

    std::vector<std::pair<sublet::value_id, sublet::byte_count>> sizes() const
    {
        std::vector<std::optional<sublet::byte_count>> most(net.bytes.size());
        for (auto const& row : net.outputs)
            for (auto v : row) most[storage[v]] = std::max(most[storage[v]].value_or(0), net.bytes[v]);
        std::vector<std::pair<sublet::value_id, sublet::byte_count>> found;
        for (sublet::value_id v = 0; v != most.size(); ++v)
            if (most[v]) found.push_back({v, *most[v]});
        return found;
    }

    void visit(std::size_t op, tokens held_tokens, std::vector<free_storage>& free)
    {
        held_tokens.insert(deposits_[op].begin(), deposits_[op].end());
        visited_[op] = true;
        std::vector<free_storage> freed;
        for (auto const* row : {&net.inputs[op], &net.outputs[op]})
            for (auto v : *row) needed_[storage[v]].insert(held_tokens.begin(), held_tokens.end());
        for (auto v : net.inputs[op])
            if (v != net.head && --readers_left_[v] == 0)
                freed.push_back({-times_shared_[storage[v]], storage[v]});
        for (auto v : net.outputs[op])
            if (auto const reused =
                    by_size ? choose_by_size(v, held_tokens, free) : choose_most_shared(held_tokens, free)) {
                needed_[*reused].insert(held_tokens.begin(), held_tokens.end());
                ++times_shared_[*reused];
                storage[v] = *reused;
            }
        for (free_storage f : freed) {
            free.push_back(f);
            std::push_heap(free.begin(), free.end(), std::greater<>());
            if (known_size_[f.second] == 0) known_size_[f.second] = net.bytes[f.second]; // never raised later
        }
        std::size_t fanout = 0;
        for (auto v : net.outputs[op]) fanout += readers_[v].size();
        for (auto v : net.outputs[op])
            for (std::size_t next : readers_[v]) {
                if (++arrived_[next] == awaited_[next]) {
                    tokens next_tokens = held_tokens;
                    if (fanout > 1) next_tokens.insert(next_token_++);
                    visit(next, std::move(next_tokens), free);
                } else if (!visited_[next]) {
                    deposits_[next].insert(held_tokens.begin(), held_tokens.end());
                }
            }
    }

    bool may_reuse(sublet::value_id v, tokens const& held_tokens) const
    {
        return std::includes(held_tokens.begin(), held_tokens.end(), needed_[v].begin(), needed_[v].end());
    }
    std::optional<sublet::value_id> choose_most_shared(tokens const& held_tokens,
                                                       std::vector<free_storage>& free)
    {
        std::sort(free.begin(), free.end());
        for (auto at = free.begin(); at != free.end(); ++at)
            if (may_reuse(at->second, held_tokens)) {
                auto const reused = at->second;
                free.erase(at);
                std::make_heap(free.begin(), free.end(), std::greater<>());
                return reused;
            }
        std::make_heap(free.begin(), free.end(), std::greater<>());
        return std::nullopt;
    }
    std::optional<sublet::value_id> choose_by_size(sublet::value_id v, tokens const& held_tokens,
                                                   std::vector<free_storage>& free)
    {
        auto best = free.end();
        for (auto at = free.begin(); at != free.end(); ++at) {
            if (!may_reuse(at->second, held_tokens)) continue;
            if (best != free.end()) {
                auto const has = known_size_[at->second], most = known_size_[best->second];
                if (has < most || (most >= net.bytes[v] && has > most)) continue;
            }
            best = at;
        }
        if (best == free.end()) return std::nullopt;
        auto const reused = best->second;
        free.erase(best); // from the middle of a heap
        return reused;
    }

    std::vector<std::vector<std::size_t>> readers_; // by value: operations, once per read
    std::vector<std::size_t> readers_left_;         // by value
    std::vector<int> times_shared_;                 // by storage
    std::vector<tokens> needed_;                    // by storage: of all operations that touched it
    std::vector<std::size_t> awaited_, arrived_;    // by operation: numbers of operands
    std::vector<bool> visited_;
    std::vector<tokens> deposits_;
    std::vector<sublet::byte_count> known_size_; // by storage
    int next_token_ = 1;
};

#endif
