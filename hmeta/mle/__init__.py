"""Maximum likelihood of one small table or of thousands at once; arrays only, no names."""
