static int @popcount(uint32_t word)
{
    word = word - ((word >> 1) & UINT32_C(0x55555555));
    word = (word & UINT32_C(0x33333333)) + ((word >> 2) & UINT32_C(0x33333333));
    word = (word + (word >> 4)) & UINT32_C(0x0F0F0F0F);
    return (int)(((word * UINT32_C(0x01010101)) >> 24) & 0xFF);
}
