/* Places of results, as c.md says: not NULL, aligned, and apart from all else that a call reads or writes. A row for each function and
   each of its results; xtask/tests/headers.rs finds one that the header has and the table has not. */
#ifndef PLACES_H
#define PLACES_H

#include "check.h"

enum { ROOM_BYTES = 64 };

/* What calls read: `items`, and `others` where they take a second array. Results that are right are left in `results`. */
static _Alignas(16) unsigned char items[ROOM_BYTES], others[ROOM_BYTES], results[2 * ROOM_BYTES];

/* The call with this result, and with all else right. */
typedef treefold_status (*call_with)(void *place);

struct place {
    const char *function, *result;
    call_with call;
    /* What its address is a multiple of; 1 if it may have any. */
    size_t alignment;
    /* The bytes that it takes. */
    size_t bytes;
    /* What it must not overlap, up to the first NULL, and what that is called. */
    struct {
        unsigned char *begin;
        const char *name;
    } apart[4];
};

static void expect(const struct place *place, const char *what, void *result, treefold_status code, const char *words)
{
    unsigned char before[2][ROOM_BYTES];
    memcpy(before[0], items, ROOM_BYTES);
    memcpy(before[1], others, ROOM_BYTES);
    treefold_status status = place->call(result);
    if (status != code || (code != TREEFOLD_OK && strstr(treefold_last_error(), words) == NULL)) {
        fprintf(stderr, "%s, `%s` %s: %s (%s), expected %s (%s)\n", place->function, place->result, what, treefold_status_name(status),
                treefold_last_error(), treefold_status_name(code), words);
        failures++;
    }
    if (memcmp(before[0], items, ROOM_BYTES) != 0 || memcmp(before[1], others, ROOM_BYTES) != 0) {
        fprintf(stderr, "%s, `%s` %s: items were written to\n", place->function, place->result, what);
        failures++;
    }
}

/* `may_be_null` where NULL means that the caller does not want to know. */
static void check_place(const struct place *place, int may_be_null)
{
    char words[80];
    snprintf(words, sizeof words, "`%s` is NULL", place->result);
    expect(place, "NULL", NULL, may_be_null ? TREEFOLD_OK : TREEFOLD_NULL, words);
    if (place->alignment > 1) {
        snprintf(words, sizeof words, "`%s`: its address is not a multiple of %zu", place->result, place->alignment);
        expect(place, "not aligned", results + 1, TREEFOLD_ARGUMENT, words);
        expect(place, "not aligned", results + place->alignment / 2, TREEFOLD_ARGUMENT, words);
    }
    for (size_t i = 0; i < 4 && place->apart[i].begin != NULL; i++) {
        unsigned char *begin = place->apart[i].begin;
        expect(place, "at the begin of what it must not be", begin, TREEFOLD_ARGUMENT, "overlap");
        CHECK(strstr(treefold_last_error(), place->apart[i].name) != NULL);
        CHECK(strstr(treefold_last_error(), place->result) != NULL);
    }
    expect(place, "right", results, TREEFOLD_OK, "");
}

#endif
