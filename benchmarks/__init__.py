"""What retain costs and what its extractor finds, measured beside peers in the same run. Not part of the product."""
