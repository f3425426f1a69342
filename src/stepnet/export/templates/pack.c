/* Packs features, each zero or nonzero, into x[$n_words], which the model reads. */
void @pack(const int32_t *features, uint32_t *x)
{
    for (int k = 0; k < $n_words; k++)
        x[k] = 0;
    for (int i = 0; i < $n_features; i++)
        if (features[i] != 0)
            x[i / 32] |= UINT32_C(1) << (i % 32);
}
