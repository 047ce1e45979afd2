"""The whole service over HTTP: real queues, real workers, real encoders."""
