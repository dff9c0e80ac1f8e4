"""What several test folders share: robots, random trees and the Pinocchio comparison."""
