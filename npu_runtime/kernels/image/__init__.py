"""Images resized, cropped, recoloured; boxes over them."""
