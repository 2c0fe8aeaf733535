package anthropic
