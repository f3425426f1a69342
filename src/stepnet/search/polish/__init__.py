"""The same loss with wider margins and fewer weights."""
