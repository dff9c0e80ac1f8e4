"""The shared half of every reference: textbook kinematics and spatial algebra in NumPy."""
