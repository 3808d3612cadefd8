"""What a script for TensorFlow 2 trains with: functions that are traced, and loops that apply gradients."""
