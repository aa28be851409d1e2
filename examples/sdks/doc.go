// Package sdks shows, and proves by its tests, that the JSON of package tools
// becomes the parameter types of LLM SDKs by json.Unmarshal: openai-go,
// anthropic-sdk-go, genai, langchaingo and the MCP SDK. Its examples show a call
// and its answer with each. It is a module of its own, so that no program that uses
// Toolcell downloads them.
package sdks
