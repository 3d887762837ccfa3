package golden

var Beginning = beginning
