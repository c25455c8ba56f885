"""From documents to drafts with a model: what is asked at each stage, and what of the answers may be used."""
