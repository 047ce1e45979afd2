"""Tests of image classification, which use no AWS."""
