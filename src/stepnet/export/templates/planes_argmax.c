static int @layer$k(const uint32_t *signals)
{
    int best = 0;
    int64_t highest = 0;
    for (int j = 0; j < $width; j++) {
        const int64_t sum = @count(signals, @planes$k, @spans$k[j], $n_planes, $n_signs);
        const int64_t score = $factor * sum - @thresholds$k[j];
        if (j == 0 || score > highest) {
            best = j;
            highest = score;
        }
    }
    return best;
}
