"""What a person does to cards: edit, suspend, tag, reschedule."""
