"""What related exercises share: their inputs, and mistakes that each of them can show."""
