static int @number(const char *cell, double *value)
{
    char *end;
    *value = strtod(cell, &end);
    return end != cell && *end == 0 && *value - *value == 0;
}
