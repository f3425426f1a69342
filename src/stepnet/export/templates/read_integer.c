static int @number(const char *cell, int32_t *value)
{
    char *end;
    errno = 0;
    const long long read = strtoll(cell, &end, 10);
    if (end == cell || errno != 0 || read < $lowest || read > $highest)
        return 0;
    *value = (int32_t)read;
    if (*end == '.')
        for (end++; *end == '0';)
            end++;
    return *end == 0;
}
