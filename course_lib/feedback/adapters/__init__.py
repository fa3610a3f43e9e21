"""How answers that may be written in several right ways are used and read."""
