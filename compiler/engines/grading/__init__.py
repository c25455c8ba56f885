"""Typed answers graded, and quizzes held, by a model."""
