/* SPDX-License-Identifier: BSL-1.0 */

/* A device that runs a network in memory that was planned when this program was built. It includes the header
 * that plan_model has written, and nothing of the library: no plan is made at run time, and nothing is
 * allocated.
 *
 *     sound -> conv -> conv_relu -> depth -> depth_relu -> point -> joined -> pooled = flat -> words
 *                             \______________________________________/
 *
 * The network runs twice: in one arena at the offsets of the header, and with separate storage for each
 * value. The results must be the same. Numbers are integers of 8 bits, so each compiler gets the same ones.
 */

#include "keywords.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    rows = 32,
    bands = 20,
    channels = 8,
    height = 16,
    width = 10,
    area = height * width,
    words = 4,
    sounds = 16
};
_Static_assert(KEYWORDS_BYTES_OF_conv == channels * area, "the header is of another network");
_Static_assert(KEYWORDS_BYTES_OF_pooled == channels * area / 4, "the header is of another network");
_Static_assert(KEYWORDS_BYTES_OF_words == words, "the header is of another network");

/* Where the values lie. flat is a view: the bytes of pooled. */
struct places {
    int8_t *conv, *conv_relu, *depth, *depth_relu, *point, *joined, *pooled, *words;
};

/* All the memory that the network needs for its values. */
static _Alignas(KEYWORDS_ARENA_ALIGNMENT) int8_t arena[KEYWORDS_ARENA_BYTES];

static struct places const planned = {
    arena + KEYWORDS_OFFSET_OF_conv,   arena + KEYWORDS_OFFSET_OF_conv_relu,
    arena + KEYWORDS_OFFSET_OF_depth,  arena + KEYWORDS_OFFSET_OF_depth_relu,
    arena + KEYWORDS_OFFSET_OF_point,  arena + KEYWORDS_OFFSET_OF_joined,
    arena + KEYWORDS_OFFSET_OF_pooled, arena + KEYWORDS_OFFSET_OF_words};
_Static_assert(KEYWORDS_OFFSET_OF_flat == KEYWORDS_OFFSET_OF_pooled, "a view has no other place");

static int8_t conv[KEYWORDS_BYTES_OF_conv], conv_relu[KEYWORDS_BYTES_OF_conv_relu],
    depth[KEYWORDS_BYTES_OF_depth], depth_relu[KEYWORDS_BYTES_OF_depth_relu], point[KEYWORDS_BYTES_OF_point],
    joined[KEYWORDS_BYTES_OF_joined], pooled[KEYWORDS_BYTES_OF_pooled], said[KEYWORDS_BYTES_OF_words];
static struct places const apart = {conv, conv_relu, depth, depth_relu, point, joined, pooled, said};

/* On a device they would be constants in its flash memory. */
static int8_t conv_weights[channels * 9], depth_weights[channels * 9], point_weights[channels * channels];
static int8_t word_weights[channels * area / 4 * words];

static void fill(int8_t* bytes, unsigned count, uint32_t* seed)
{
    for (unsigned i = 0; i != count; ++i) {
        *seed = *seed * 1664525u + 1013904223u;
        bytes[i] = (int8_t)((int)(*seed >> 24) - 128);
    }
}

static int8_t scaled(int32_t sum)
{
    sum /= 128;
    return (int8_t)(sum < -128 ? -128 : sum > 127 ? 127 : sum);
}

/* The sum over a window of 3 x 3 around a point of a channel, with zeros outside. */
static int32_t window(int8_t const* in, int in_height, int in_width, int y, int x, int8_t const* weights)
{
    int32_t sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (y + dy >= 0 && y + dy < in_height && x + dx >= 0 && x + dx < in_width)
                sum += in[(y + dy) * in_width + x + dx] * weights[(dy + 1) * 3 + dx + 1];
    return sum;
}

/* As the plan assumes of kernels that work in place: they read element i before they write element i. */
static void relu(int8_t const* in, int8_t* out)
{
    for (int i = 0; i != channels * area; ++i) out[i] = in[i] < 0 ? 0 : in[i];
}

static void larger(int8_t const* a, int8_t const* b, int8_t* out)
{
    for (int i = 0; i != channels * area; ++i) out[i] = a[i] < b[i] ? b[i] : a[i];
}

/* The nodes in the order of the file, which is the order of the plan. */
static void run(int8_t const* sound, struct places const* at)
{
    for (int c = 0; c != channels; ++c)
        for (int i = 0; i != area; ++i)
            at->conv[c * area + i] =
                scaled(window(sound, rows, bands, i / width * 2, i % width * 2, conv_weights + c * 9));
    relu(at->conv, at->conv_relu);
    for (int c = 0; c != channels; ++c)
        for (int i = 0; i != area; ++i)
            at->depth[c * area + i] = scaled(
                window(at->conv_relu + c * area, height, width, i / width, i % width, depth_weights + c * 9));
    relu(at->depth, at->depth_relu);
    for (int c = 0; c != channels; ++c)
        for (int i = 0; i != area; ++i) {
            int32_t sum = 0;
            for (int from = 0; from != channels; ++from)
                sum += at->depth_relu[from * area + i] * point_weights[c * channels + from];
            at->point[c * area + i] = scaled(sum);
        }
    larger(at->point, at->conv_relu, at->joined);
    for (int i = 0; i != channels * area / 4; ++i) {
        int8_t const* corner = at->joined + i / (width / 2) * 2 * width + i % (width / 2) * 2;
        int8_t most = corner[0];
        for (int j = 1; j != 4; ++j)
            if (corner[j / 2 * width + j % 2] > most) most = corner[j / 2 * width + j % 2];
        at->pooled[i] = most;
    }
    int8_t const* const flat = at->pooled;
    for (int w = 0; w != words; ++w) {
        int32_t sum = 0;
        for (int i = 0; i != channels * area / 4; ++i) sum += flat[i] * word_weights[i * words + w];
        at->words[w] = scaled(sum / 16);
    }
}

/* Runs the network on several sounds, and hashes what it says of each. */
static uint32_t checksum(struct places const* at)
{
    uint32_t seed = 2, hash = 2166136261u;
    for (int s = 0; s != sounds; ++s) {
        int8_t sound[rows * bands];
        fill(sound, sizeof sound, &seed);
        run(sound, at);
        for (int w = 0; w != words; ++w) hash = (hash ^ (uint8_t)at->words[w]) * 16777619u;
    }
    return hash;
}

int main(void)
{
    uint32_t seed = 1;
    fill(conv_weights, sizeof conv_weights, &seed);
    fill(depth_weights, sizeof depth_weights, &seed);
    fill(point_weights, sizeof point_weights, &seed);
    fill(word_weights, sizeof word_weights, &seed);

    size_t const together = sizeof conv + sizeof conv_relu + sizeof depth + sizeof depth_relu + sizeof point +
                            sizeof joined + sizeof pooled + sizeof said;
    uint32_t const in_arena = checksum(&planned), separate = checksum(&apart);
    printf("arena: %lu bytes, at multiples of %lu\n", (unsigned long)KEYWORDS_ARENA_BYTES,
           (unsigned long)KEYWORDS_ARENA_ALIGNMENT);
    printf("in the arena: checksum %08lx\n", (unsigned long)in_arena);
    printf("with separate storage of %lu bytes: checksum %08lx\n", (unsigned long)together,
           (unsigned long)separate);
    return in_arena == separate ? 0 : 1;
}
