"""What links that went live did to the clicks, impressions and positions of their targets."""
