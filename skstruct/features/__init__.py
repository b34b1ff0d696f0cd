"""From tokens to weight rows: templates, encoders and their names."""
