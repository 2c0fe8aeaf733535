module github.com/holdpoint/ai/plugins/mcp

go 1.26

require github.com/holdpoint/ai v0.0.0

require github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect

replace github.com/holdpoint/ai => ../..
