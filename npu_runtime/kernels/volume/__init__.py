"""Convolutions and pools of three dimensions."""
