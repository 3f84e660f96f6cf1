// Package canary makes secrets that belong to nobody, fresh each time, for
// tests that look where they come out again.
package canary

import (
	"crypto/rand"
	"strings"
)

// A Canary is a piece of text with a secret in it.
type Canary struct {
	Kind   string
	Text   string // as it would stand in a command or a message
	Needle string // what must not be found anywhere
}

// forms are written apart from what package redact looks for. In braces: a letter
// for the alphabet and how many. The longest of them is the needle.
var forms = []string{
	"aws AKIA{u16}", "aws-session ASIA{u16}", "aws-secret AWS_SECRET_ACCESS_KEY={b40}", "aws-token aws_session_token = {b120}", "aws-config aws_secret_access_key={b40}",
	"gcp-key AIza{w35}", "gcp-oauth ya29.{w60}", "gcp-client GOCSPX-{w28}", "gcp-refresh 1//0{w60}", `gcp-json {"private_key_id":"{h40}"}`,
	"azure-storage DefaultEndpointsProtocol=https;AccountName=x;AccountKey={b86}==;EndpointSuffix=core.windows.net", "azure-sas https://x.blob.core.windows.net/c?sv=2022&sig={a43}%3D",
	"azure-bus Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={b43}=", "azure-client AZURE_CLIENT_SECRET={w34}", "azure-sql Server=tcp:x;User ID=u;Password={a20};Encrypt=True",
	"alibaba LTAI{a20}", "tencent AKID{a32}", "digitalocean dop_v1_{h64}", "heroku HRKU-{w40}", "heroku-key HEROKU_API_KEY={h32}", "netlify nfp_{a36}", "fly FlyV1 fm2_{b80}", "vercel VERCEL_TOKEN={a24}", "yandex y0_{w55}", "tailscale tskey-auth-{a12}-{a24}",
	"github ghp_{a36}", "github-oauth gho_{a36}", "github-user ghu_{a36}", "github-app ghs_{a36}", "github-refresh ghr_{a36}", "github-fine github_pat_{a22}_{a59}",
	"gitlab glpat-{w20}", "gitlab-deploy gldt-{w20}", "gitlab-runner glrt-{w20}", "gitlab-job glcbt-{w20}", "gitlab-trigger glptt-{h40}", "gitlab-feed glft-{w20}", "gitlab-agent glagent-{w50}", "gitlab-old GR1348941{w20}",
	"bitbucket ATBB{a32}", "npm npm_{a36}", "npmrc //registry.npmjs.org/:_authToken={a36}", "pypi pypi-AgEIcHlwaS5vcmc{w70}", "rubygems rubygems_{h48}", "crates cio{a32}", "nuget oy2{l43}", "clojars CLOJARS_{l60}", "dockerhub dckr_pat_{w27}", "dockercfg \"auth\": \"{b64}\"", "jfrog AKCp{a69}", "sourcegraph sgp_{h40}", "circleci CCIPAT_{a22}_{h40}",
	"openai sk-{a48}", "openai-project sk-proj-{w80}", "anthropic sk-ant-api03-{w90}", "openrouter sk-or-v1-{h64}", "groq gsk_{a52}", "xai xai-{a80}", "perplexity pplx-{a48}", "replicate r8_{a37}", "huggingface hf_{a34}", "langsmith lsv2_pt_{h32}_{h10}", "nvidia nvapi-{w64}", "tavily tvly-{a32}",
	"slack xoxb-{d11}-{d12}-{a24}", "slack-user xoxp-{d11}-{d12}-{h32}", "slack-app xapp-1-{u11}-{d12}-{h64}", "slack-hook https://hooks.slack.com/services/{u9}/{u10}/{a24}", "discord-hook https://discord.com/api/webhooks/{d18}/{w68}", "telegram {d9}:AA{w33}", "sendgrid SG.{w22}.{w43}", "twilio SK{h32}", "twilio-auth TWILIO_AUTH_TOKEN={h32}", "mailgun key-{h32}", "brevo xkeysib-{h64}-{a16}", "resend re_{a8}_{a24}",
	"stripe sk_live_{a24}", "stripe-test sk_test_{a24}", "stripe-restricted rk_live_{a24}", "webhook-secret whsec_{b32}", "shopify shpat_{h32}", "square sq0atp-{w22}", "square-secret sq0csp-{w43}", "paypal access_token$production${l16}${h32}", "plaid access-production-{h32}", "flutterwave FLWSECK_TEST-{h32}-X",
	"linear lin_api_{a40}", "notion ntn_{a46}", "figma figd_{w40}", "atlassian ATATT3xFfGF0{w80}", "trello ATTA{h64}", "postman PMAK-{h24}-{h34}", "typeform tfp_{w44}", "contentful CFPAT-{w43}",
	"databricks dapi{h32}", "grafana glsa_{a32}_{h8}", "grafana-cloud glc_{b60}", "vault hvs.{w90}", "vault-batch hvb.{w90}", "pulumi pul-{h40}", "doppler dp.pt.{a43}", "supabase sbp_{h40}", "planetscale pscale_tkn_{w43}", "neon postgres://u:npg_{a12}@ep.neon.tech/db", "newrelic NRAK-{u27}", "sentry sntrys_{b80}", "datadog DD_API_KEY={h32}", "dynatrace dt0c01.{u24}.{u64}", "sonar sqp_{h40}",
	"age AGE-SECRET-KEY-1{u58}", "jwt eyJhbGciOiJIUzI1NiJ9.eyJ{w40}.{w43}", "pem -----BEGIN RSA PRIVATE KEY-----\nMII{b60}\n{b64}\n-----END RSA PRIVATE KEY-----", "pem-json {\"k\":\"-----BEGIN PRIVATE KEY-----\\nMII{b60}\\n-----END PRIVATE KEY-----\\n\"}", "openssh -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA{b60}\n-----END OPENSSH PRIVATE KEY-----",
	"url https://deploy:{a16}@git.example.com/x.git", "url-token https://{a40}@git.example.com/x.git", "postgres postgresql://app:{a12}@db:5432/app", "mysql mysql://root:{a14}@127.0.0.1/x", "redis redis://:{a24}@cache:6379/0", "mongodb mongodb+srv://u:{a18}@c.example.net/x", "amqp amqp://guest:{a12}@mq/",
	"query https://example.com/cb?access_token={a32}&x=1", "query-sig https://s3.example.com/o?X-Amz-Signature={h64}", "query-key https://maps.example.com/?key={a39}",
	"bearer curl -H 'Authorization: Bearer {w40}' https://example.com", "basic curl -H \"Authorization: Basic {b28}\" x", "auth-json {\"Authorization\":\"token {a40}\"}", "cookie curl -H 'Cookie: sid={a32}; theme=dark' x", "api-header X-Api-Key: {a32}", "vault-header X-Vault-Token: {a26}", "bearer-alone with Bearer {w40} it works",
	"env export DB_PASSWORD={a12} && ./run", "env-quoted MYSQL_PWD='{a10} {a6}' mysql", "env-short PGPASSWORD={a8} psql -h db", "yaml password: {a14}", "json {\"clientSecret\": \"{a30}\"}", "json-number {\"passcode\": {d9}}", "toml api_key = \"{a28}\"", "ini secret={a16}", "properties spring.datasource.password={a16}",
	"flag tool --password {a12} run", "flag-eq tool --api-key={a24}", "flag-token gh auth login --token {a20}", "curl-user curl -u admin:{a12} https://example.com", "sshpass sshpass -p {a10} ssh h", "mysql-p mysql -uroot -p{a12} db", "redis-a redis-cli -h h -a {a20} ping", "docker-login docker login -u me -p {a20} r.example.com", "openssl openssl enc -k {a20} -in x", "openssl-pass openssl rsa -passin pass:{a16} -in k",
	"prose the api key is {a32}, use it", "prose-password my password is {a18}", "django SECRET_KEY = 'django-insecure-{w50}'", "rails secret_key_base: {h128}", "kube {\"stringData\":{\"token\":\"{a40}\"}}", "htdigest auth_token={a32}",
	"own gka_{a43}", "own-approver gkd_{a43}", "own-browser gkb_{a43}", "own-page gkp_{a43}", "own-checkpoint gkc_{a43}",
}

var alphabets = map[byte]string{
	'd': "0123456789", 'h': "0123456789abcdef", 'l': "0123456789abcdefghijklmnopqrstuvwxyz", 'u': "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
	'a': "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 'w': "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-",
	'b': "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/",
}

// All returns one of each kind.
func All() (out []Canary) {
	for _, f := range forms {
		kind, text, _ := strings.Cut(f, " ")
		out = append(out, make1(kind, text))
	}
	return out
}

func make1(kind, form string) Canary {
	c := Canary{Kind: kind}
	var b strings.Builder
	for form != "" {
		before, rest, ok := strings.Cut(form, "{")
		b.WriteString(before)
		if !ok {
			break
		}
		n, end := 0, 1
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			n, end = n*10+int(rest[end]-'0'), end+1
		}
		if n == 0 || end == len(rest) || rest[end] != '}' {
			b.WriteByte('{') // of the text itself
			form = rest
			continue
		}
		random := pick(alphabets[rest[0]], n)
		if len(random) > len(c.Needle) {
			c.Needle = random
		}
		b.WriteString(random)
		form = rest[end+1:]
	}
	c.Text = b.String()
	return c
}

// pick never ends in a sign, begins with a letter where there are any, and has
// both letters and digits: what comes out of a real generator nearly always does.
func pick(alphabet string, n int) string {
	for {
		raw := make([]byte, n)
		_, _ = rand.Read(raw) // never fails
		for i := range raw {
			raw[i] = alphabet[int(raw[i])%len(alphabet)]
		}
		s := string(raw)
		if strings.ContainsAny(s[:1]+s[n-1:], "_-+/") || alphabet != alphabets['d'] && (strings.Trim(s, "0123456789") == "" || !strings.ContainsAny(s, "0123456789")) {
			continue
		}
		return s
	}
}
