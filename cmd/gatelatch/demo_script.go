package main

type fields = map[string]any

// demoSessions are what the demo agents ask: a read, shell commands, an edit
// with a diff, a question, a batch of three.
func demoSessions() []demoSession {
	const shop, infra = "/home/dev/checkout-api", "/home/dev/infra-live"
	return []demoSession{
		{
			name: "Claude Code", project: shop, mode: "default",
			prompt: "The payment retries hammer the provider. Make them back off, and show me that the tests pass.",
			rounds: []demoRound{
				{said: "Let me look at the retry code first.", calls: []demoCall{
					{tool: "Read", input: fields{"file_path": shop + "/src/payments/retry.ts"}},
				}},
				{said: "I'll back off exponentially, stop on errors that can't be retried, and run the tests.", calls: []demoCall{
					{tool: "Edit", input: retryEdit(shop)},
					{tool: "Write", input: fields{"file_path": shop + "/src/payments/errors.ts", "content": errorsFile}},
					{tool: "Bash", input: fields{"command": "npm test -- payments --coverage > test.log 2>&1", "description": "Run the payment tests"}, claim: "Run the payment tests"},
				}},
				{said: "The old cache confuses the tests.", calls: []demoCall{
					{tool: "Bash", input: fields{"command": "rm -rf dist ../.cache/checkout && npm ci", "description": "Clean install"}, claim: "Clean install"},
				}},
			},
		},
		{
			name: "Codex", project: infra, mode: "default",
			prompt: "Rotate the staging certificates.",
			rounds: []demoRound{
				{said: "Two things I need to know before I start.", calls: []demoCall{
					{tool: "AskUserQuestion", input: certQuestions},
				}},
				{said: "Restarting the ingress so that it picks the new certificate up.", calls: []demoCall{
					{tool: "Bash", input: fields{"command": "kubectl --context staging rollout restart deploy/ingress", "description": "Restart ingress"}, claim: "Restart ingress"},
				}},
				{said: "Opening a pull request with the change.", calls: []demoCall{
					{tool: "mcp__github__create_pull_request", input: fields{"repo": "acme/infra-live", "title": "Rotate staging certificates", "base": "main", "head": "rotate-certs", "draft": true}},
				}},
			},
		},
	}
}

func retryEdit(project string) fields {
	return fields{
		"file_path":  project + "/src/payments/retry.ts",
		"old_string": "const MAX_ATTEMPTS = 5;\nconst BASE_DELAY_MS = 200;\n\nexport async function withRetry<T>(op: () => Promise<T>): Promise<T> {\n  for (let attempt = 0; ; attempt++) {\n    try {\n      return await op();\n    } catch (err) {\n      if (attempt >= MAX_ATTEMPTS) throw err;\n      await sleep(BASE_DELAY_MS);\n    }\n  }\n}\n",
		"new_string": "const MAX_ATTEMPTS = 4;\nconst BASE_DELAY_MS = 200;\nconst MAX_DELAY_MS = 5_000;\n\nexport async function withRetry<T>(op: () => Promise<T>): Promise<T> {\n  for (let attempt = 0; ; attempt++) {\n    try {\n      return await op();\n    } catch (err) {\n      if (!isRetryable(err) || attempt >= MAX_ATTEMPTS) throw err;\n      await sleep(Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** attempt));\n    }\n  }\n}\n",
	}
}

const errorsFile = `/** Errors that trying again can help with. */
export function isRetryable(err: unknown): boolean {
  const status = (err as { status?: number }).status;
  return status === undefined || status === 429 || status >= 500;
}
`

var certQuestions = fields{"questions": []fields{
	{"question": "How long should the new certificates be valid?", "header": "Validity", "multiSelect": false, "options": []fields{
		{"label": "90 days", "description": "What the provider recommends"},
		{"label": "1 year", "description": "As before"},
	}},
	{"question": "Which services may restart now?", "header": "Restart", "multiSelect": true, "options": []fields{
		{"label": "ingress", "description": "A few seconds without traffic"},
		{"label": "api", "description": "Rolling, nobody notices"},
		{"label": "jobs", "description": "Running jobs start again"},
	}},
}}
