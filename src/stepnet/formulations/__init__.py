"""Problems as mixed-integer programs, and the way back from their solutions."""
