"""What `stockade bench --json` has printed, as one page of tables and pictures, and two runs compared."""
