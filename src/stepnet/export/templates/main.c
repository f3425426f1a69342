#ifdef STEPNET_MAIN
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int @has_names = $has_names;
static const char *const @features[$n_features] = {
$features
};

static char *@line, **@cells;
static size_t @room, @cell_room;

static void *@grown(void *memory, size_t size)
{
    void *larger = realloc(memory, size);
    if (larger == NULL) {
        fputs("not enough memory for a line\n", stderr);
        exit(2);
    }
    return larger;
}

/* Reads the next line without its line ending; returns 0 at the end of the input. */
static int @read_line(void)
{
    size_t length = 0;
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
        if (length + 2 > @room) {
            @room = 2 * @room + 256;
            @line = @grown(@line, @room);
        }
        @line[length++] = (char)c;
    }
    if (length > 0 && @line[length - 1] == '\r')
        length--;
    if (@line == NULL)
        @line = @grown(@line, @room = 256);
    @line[length] = 0;
    return length > 0 || c != EOF;
}

/* Splits the line into cells, in place, without surrounding spaces and quotes; returns their number. */
static int @cut(char *text)
{
    size_t n = 0;
    for (;;) {
        char *from, *to;
        while (*text == ' ' || *text == '\t')
            text++;
        from = to = text;
        if (*text == '"') {
            for (text++; *text != 0; text++) {
                if (*text == '"' && *++text != '"')
                    break;
                *to++ = *text;
            }
            while (*text != 0 && *text != ',')
                text++;
        } else {
            while (*text != 0 && *text != ',')
                text++;
            for (to = text; to > from && (to[-1] == ' ' || to[-1] == '\t');)
                to--;
        }
        const int is_last = *text == 0;
        *to = 0;
        if (n == @cell_room)
            @cells = @grown(@cells, (@cell_room = 2 * @cell_room + 64) * sizeof *@cells);
        @cells[n++] = from;
        if (is_last)
            return (int)n;
        text++;
    }
}

$reader
/* The column of a feature in a header of n cells; -1 if there is none. */
static int @place(int feature, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(@cells[i], @features[feature]) == 0)
            return i;
    return -1;
}

/* Whether a line names all features, or has no number where a row would have them. */
static int @is_header(int n)
{
    $type value;
    int n_found = 0;
    for (int i = 0; i < $n_features && @has_names; i++)
        n_found += @place(i, n) >= 0;
    if (n_found == $n_features)
        return 1;
    for (int i = 0; i < n && i < $n_features; i++)
        if (@number(@cells[i], &value))
            return 0;
    return 1;
}

int main(void)
{
    static $type row[$n_features];
    static int places[$n_features];
    unsigned long number = 0;
    int n_columns = 0;
    puts("$header");
    while (@read_line()) {
        char *text = @line;
        number++;
        if (number == 1 && strncmp(text, "\xEF\xBB\xBF", 3) == 0)
            text += 3;
        if (*text == 0)
            continue;
        const int n_cells = @cut(text);
        if (n_columns == 0) {
            const int is_header = @is_header(n_cells), is_named = is_header && @has_names;
            n_columns = is_named ? n_cells : $n_features;
            for (int i = 0; i < $n_features; i++) {
                places[i] = is_named ? @place(i, n_cells) : i;
                if (places[i] < 0) {
                    fprintf(stderr, "line %lu: there is no column '%s'\n", number, @features[i]);
                    return 2;
                }
            }
            if (is_header && n_cells == n_columns)
                continue;
        }
        if (n_cells != n_columns) {
            fprintf(stderr, "line %lu: %d cells, expected %d\n", number, n_cells, n_columns);
            return 2;
        }
        for (int i = 0; i < $n_features; i++)
            if (!@number(@cells[places[i]], &row[i])) {
                fprintf(stderr, "line %lu, column %d: '%s' is not $kind\n", number, places[i] + 1, @cells[places[i]]);
                return 2;
            }
$print
    }
    free(@line);
    free(@cells);
    if (ferror(stdin) || fflush(stdout) != 0) {
        fputs("standard input or output failed\n", stderr);
        return 2;
    }
    return 0;
}
#endif
