"""Answers to questions: from passages, by a model, filed as pages."""
