static int @layer$k(const uint32_t *signals)
{
    int best = 0;
    int64_t highest = 0;
    for (int j = 0; j < $width; j++) {
        const @span span = @spans$k[j];
        const int64_t sum = @listed(signals, @places$k + span.at, @weights$k + span.at, span.count);
        const int64_t score = $factor * sum - @thresholds$k[j];
        if (j == 0 || score > highest) {
            best = j;
            highest = score;
        }
    }
    return best;
}
