"""Fine-tunes the last layers of an encoder: a maintainer's command, no part of an installation."""
