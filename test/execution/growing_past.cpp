// SPDX-License-Identifier: BSL-1.0
// A decoder with a past that grows by one with each token, in one plan for every past: what it computes is
// bit-identical to runs in which each value has storage of its own.
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/growing_arena.hpp>
#include <sublet/plan_symbolic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Attention over all tokens so far, with the keys and values of earlier tokens in the caller's caches.
struct small_decoder {
    static constexpr std::size_t layers = 3, width = 16, heads = 2, words = 29, most = 512;
    enum part { projected, appended, keys, scores, weights, mixed, parts };

    /// Values: the word, its row, for each layer those of its parts and two caches, and at last the votes.
    static constexpr std::uint32_t word = 0, row = 1, per_layer = 8, votes = 2 + layers * per_layer;
    static std::uint32_t of(std::size_t layer, std::uint32_t what)
    {
        return static_cast<std::uint32_t>(2 + layer * per_layer + what);
    }
    enum value { q, k_cache, v_cache, all_keys, all_scores, all_weights, sum, next };

    std::size_t past = 0; ///< of the token that runs

    snapshot program() const
    {
        return sequence(2 + layers * parts, votes + 1, [](std::uint32_t step, effect_sink& sink) {
            if (step == 0) return sink.use(word), sink.def(row);
            if (step == 1 + layers * parts) return sink.use(of(layers - 1, next)), sink.def(votes);
            std::size_t const layer = (step - 1) / parts;
            std::uint32_t const input = layer == 0 ? row : of(layer - 1, next);
            switch ((step - 1) % parts) {
            case projected: return sink.use(input), sink.def(of(layer, q));
            case appended:
                return sink.use(of(layer, q)), sink.write(of(layer, k_cache)), sink.write(of(layer, v_cache));
            case keys: return sink.use(of(layer, k_cache)), sink.def(of(layer, all_keys));
            case scores:
                return sink.use(of(layer, q)), sink.use(of(layer, all_keys)), sink.def(of(layer, all_scores));
            case weights:
                return sink.use(of(layer, all_scores)), sink.def(of(layer, all_weights)),
                       sink.may_overwrite(of(layer, all_scores), of(layer, all_weights));
            default:
                return sink.use(of(layer, all_weights)), sink.use(of(layer, v_cache)), sink.use(input),
                       sink.def(of(layer, sum)), sink.def(of(layer, next));
            }
        });
    }
    symbolic_options options() const
    {
        formula const tokens = 1 + symbol(0); // with this one
        std::vector<formula> bytes(votes + 1, 4 * width);
        std::vector<value_role> role(votes + 1, value_role::intermediate);
        bytes[word] = 4;
        bytes[votes] = 4 * words;
        role[word] = value_role::input;
        role[votes] = value_role::output;
        for (std::size_t layer = 0; layer != layers; ++layer) {
            bytes[of(layer, q)] = 4 * 3 * width;
            for (value cache : {k_cache, v_cache}) {
                bytes[of(layer, cache)] = 4 * width * most;
                role[of(layer, cache)] = value_role::state;
            }
            bytes[of(layer, all_keys)] = 4 * width * tokens;
            bytes[of(layer, all_scores)] = bytes[of(layer, all_weights)] = 4 * heads * tokens;
        }
        return {.bytes = bytes, .dims = {{"past", 0, most - 1}}, .alignment = 16, .role = role};
    }

    /// Some number, the same for the same place.
    static float weight(std::size_t a, std::size_t b, std::size_t c)
    {
        return static_cast<float>((a * 31 + b * 17 + c * 7 + 5) % 23) / 23.0f - 0.45f;
    }
    void operator()(cpu_call const& call) const
    {
        if (call.step == 0) {
            auto const which = static_cast<std::size_t>(as<float>(call.in(0))[0]);
            auto out = as<float>(call.out(0));
            for (std::size_t i = 0; i != width; ++i) out[i] = weight(which, i, past);
            return;
        }
        if (call.step == 1 + layers * parts) {
            auto const in = as<float>(call.in(0));
            auto out = as<float>(call.out(0));
            for (std::size_t w = 0; w != words; ++w) {
                out[w] = 0;
                for (std::size_t i = 0; i != width; ++i) out[w] += in[i] * weight(w, i, 1);
            }
            return;
        }
        std::size_t const layer = (call.step - 1) / parts, tokens = past + 1, each = width / heads;
        switch ((call.step - 1) % parts) {
        case projected: {
            auto const in = as<float>(call.in(0));
            auto out = as<float>(call.out(0));
            for (std::size_t j = 0; j != 3 * width; ++j) {
                out[j] = 0;
                for (std::size_t i = 0; i != width; ++i) out[j] += in[i] * weight(layer + 2, i, j);
            }
            return;
        }
        case appended: {
            auto const in = as<float const>(call.of(of(layer, q)));
            for (std::size_t i = 0; i != width; ++i) {
                as<float>(call.of(of(layer, k_cache)))[past * width + i] = in[width + i];
                as<float>(call.of(of(layer, v_cache)))[past * width + i] = in[2 * width + i];
            }
            return;
        }
        case keys: { // side by side for each number of a row
            auto const in = as<float>(call.of(of(layer, k_cache)));
            auto out = as<float>(call.of(of(layer, all_keys)));
            for (std::size_t t = 0; t != tokens; ++t)
                for (std::size_t i = 0; i != width; ++i) out[i * tokens + t] = in[t * width + i];
            return;
        }
        case scores: {
            auto const its = as<float>(call.of(of(layer, q))), all = as<float>(call.of(of(layer, all_keys)));
            auto out = as<float>(call.of(of(layer, all_scores)));
            for (std::size_t h = 0; h != heads; ++h)
                for (std::size_t t = 0; t != tokens; ++t) {
                    out[h * tokens + t] = 0;
                    for (std::size_t i = h * each; i != (h + 1) * each; ++i)
                        out[h * tokens + t] += its[i] * all[i * tokens + t];
                }
            return;
        }
        case weights: {
            auto const in = as<float>(call.of(of(layer, all_scores)));
            auto out = as<float>(call.of(of(layer, all_weights)));
            for (std::size_t h = 0; h != heads; ++h) {
                float most_of_row = in[h * tokens], total = 0;
                for (std::size_t t = 0; t != tokens; ++t)
                    most_of_row = std::max(most_of_row, in[h * tokens + t]);
                for (std::size_t t = 0; t != tokens; ++t)
                    total += out[h * tokens + t] = std::exp(in[h * tokens + t] - most_of_row);
                for (std::size_t t = 0; t != tokens; ++t) out[h * tokens + t] /= total;
            }
            return;
        }
        default: {
            auto const its = as<float>(call.of(of(layer, all_weights)));
            auto const all = as<float>(call.of(of(layer, v_cache)));
            auto const in = as<float>(call.of(layer == 0 ? row : of(layer - 1, next)));
            auto total = as<float>(call.of(of(layer, sum))), out = as<float>(call.of(of(layer, next)));
            for (std::size_t i = 0; i != width; ++i) {
                total[i] = 0;
                for (std::size_t t = 0; t != tokens; ++t)
                    total[i] += its[i / each * tokens + t] * all[t * width + i];
                out[i] = in[i] + total[i];
            }
        }
        }
    }
};

/// The votes of each token; `begin(past)` returns the executor of one run.
template <class Begin>
std::vector<float> decode(small_decoder& decoder, Begin begin)
{
    std::vector<std::vector<float>> caches(2 * decoder.layers,
                                           std::vector<float>(decoder.width * decoder.most));
    std::vector<float> votes;
    float word = 3;
    for (std::size_t past = 0; past != decoder.most; ++past) {
        decoder.past = past;
        auto& run = begin(past);
        for (std::size_t i = 0; i != caches.size(); ++i)
            run.bind(small_decoder::of(i / 2, i % 2 == 0 ? small_decoder::k_cache : small_decoder::v_cache),
                     std::as_writable_bytes(std::span(caches[i])));
        as<float>(run.input(small_decoder::word))[0] = word;
        run.run();
        auto const found = as<float const>(run.output(small_decoder::votes));
        votes.insert(votes.end(), found.begin(), found.end());
        word = static_cast<float>(std::max_element(found.begin(), found.end()) - found.begin());
    }
    return votes;
}

} // namespace

TEST_CASE("a decoder decodes 512 tokens in one plan, bit-identical to storage of its own for each value")
{
    small_decoder decoder;
    snapshot const program = decoder.program();
    symbolic_options const options = decoder.options();
    auto const planned = plan_symbolic(program, options);
    REQUIRE(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.report().excess() == 0);
    growing_arena memory(planned);
    auto kernel = [&decoder](cpu_call const& call) { decoder(call); };
    cpu_executor run(program, options, memory.at(0), kernel, {.check = executor_options::checks::digest});
    auto const in_one_plan = decode(decoder, [&](std::size_t past) -> auto& {
        run.set_shape(past); // nothing is planned or lowered here
        return run;
    });
    std::optional<cpu_executor<decltype(kernel)>> own;
    auto const apart = decode(decoder, [&](std::size_t past) -> auto& {
        own.emplace(program, options.at(past), no_plan{}, kernel);
        return *own;
    });
    REQUIRE(in_one_plan.size() == small_decoder::words * small_decoder::most);
    CHECK(in_one_plan == apart);
    CHECK(planned.plan.bytes(511) > 100 * planned.plan.bytes(0));
}

} // namespace this_test
