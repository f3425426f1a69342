static int @layer$k(const int32_t *x)
{
    int best = 0;
    int64_t highest = 0;
    for (int j = 0; j < $width; j++) {
        const int64_t score = $factor * @dot(x, @weights$k + j * $n_inputs) - @thresholds$k[j];
        if (j == 0 || score > highest) {
            best = j;
            highest = score;
        }
    }
    return best;
}
