"""What a model or an agent is asked, and how its answers are read: plain text in lines, the same for everybody."""
