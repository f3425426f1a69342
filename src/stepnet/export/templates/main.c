#ifdef STEPNET_MAIN
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int @has_names = $has_names;
static const char *const @features[$n_features] = {
$features
};

static char *@line;
static size_t @room;

/* Reads the next line without its line ending; returns 0 at the end of the input. */
static int @read_line(void)
{
    size_t length = 0;
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
        if (length + 2 > @room) {
            @room = 2 * @room + 256;
            char *larger = realloc(@line, @room);
            if (larger == NULL) {
                fputs("not enough memory for a line\n", stderr);
                exit(2);
            }
            @line = larger;
        }
        @line[length++] = (char)c;
    }
    if (length > 0 && @line[length - 1] == '\r')
        length--;
    if (@line != NULL)
        @line[length] = 0;
    else
        @line = calloc(@room = 256, 1);
    if (@line == NULL)
        exit(2);
    return length > 0 || c != EOF;
}

/* Splits the line into cells, in place, without surrounding spaces and quotes; returns their number. */
static int @cut(char *text, char **cells)
{
    int n = 0;
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
        if (n < $n_features)
            cells[n] = from;
        n++;
        if (is_last)
            return n;
        text++;
    }
}

$reader
static int @are_names(char **cells)
{
    for (int i = 0; i < $n_features; i++)
        if (strcmp(cells[i], @features[i]) != 0)
            return 0;
    return 1;
}

static int @is_header(char **cells, int n_cells)
{
    $type value;
    if (n_cells == $n_features && @has_names && @are_names(cells))
        return 1;
    for (int i = 0; i < n_cells && i < $n_features; i++)
        if (@number(cells[i], &value))
            return 0;
    return 1;
}

int main(void)
{
    static char *cells[$n_features];
    static $type row[$n_features];
    unsigned long number = 0;
    int is_first = 1;
    puts("$header");
    while (@read_line()) {
        char *text = @line;
        number++;
        if (number == 1 && strncmp(text, "\xEF\xBB\xBF", 3) == 0)
            text += 3;
        if (*text == 0)
            continue;
        const int n_cells = @cut(text, cells), is_header = is_first && @is_header(cells, n_cells);
        is_first = 0;
        if (n_cells != $n_features) {
            fprintf(stderr, "line %lu: %d cells, the model has $n_features features\n", number, n_cells);
            return 2;
        }
        if (is_header) {
            for (int i = 0; i < $n_features && @has_names; i++)
                if (strcmp(cells[i], @features[i]) != 0) {
                    fprintf(stderr, "line %lu: column %d is '%s', the model expects '%s'\n", number, i + 1, cells[i],
                            @features[i]);
                    return 2;
                }
            continue;
        }
        for (int i = 0; i < $n_features; i++)
            if (!@number(cells[i], &row[i])) {
                fprintf(stderr, "line %lu, column %d: '%s' is not $kind\n", number, i + 1, cells[i]);
                return 2;
            }
$print
    }
    free(@line);
    if (ferror(stdin) || fflush(stdout) != 0) {
        fputs("standard input or output failed\n", stderr);
        return 2;
    }
    return 0;
}
#endif
