package redact

// set is the bytes that a secret is made of.
type set [256]bool

func bytesOf(chars string) (s set) {
	for _, c := range []byte(chars) {
		s[c] = true
	}
	return s
}

const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
)

var (
	hexa   = bytesOf(digits + "abcdefABCDEF")
	capit  = bytesOf(digits + upper)
	alnum  = bytesOf(digits + upper + lower)
	wordy  = bytesOf(digits + upper + lower + "_-")
	dotted = bytesOf(digits + upper + lower + "_-.")
	base64 = bytesOf(digits + upper + lower + "_-+/=")
	broad  = bytesOf(digits + upper + lower + "_-+/=.~:$%")
)

// A kind is a secret that is known by how it begins: at least so many bytes of
// a set follow.
type kind struct {
	prefix string
	of     *set
	least  int
}

// kinds are as their issuers describe them.
var kinds = []kind{
	// Our own.
	{"gka_", &wordy, 16}, {"gkd_", &wordy, 16}, {"gkb_", &wordy, 16}, {"gkp_", &wordy, 16}, {"gkc_", &wordy, 16}, {"gkn_", &wordy, 16},
	// Clouds.
	{"AKIA", &capit, 16}, {"ASIA", &capit, 16}, {"ABIA", &capit, 16}, {"ACCA", &capit, 16}, {"bedrock-api-key-", &base64, 16},
	{"AIza", &wordy, 30}, {"ya29.", &dotted, 20}, {"GOCSPX-", &wordy, 20}, {"1//0", &wordy, 30},
	{"LTAI", &alnum, 12}, {"AKID", &alnum, 20}, {"dop_v1_", &hexa, 32}, {"doo_v1_", &hexa, 32}, {"dor_v1_", &hexa, 32},
	{"HRKU-", &wordy, 20}, {"fo1_", &wordy, 20}, {"fm1_", &base64, 20}, {"fm2_", &base64, 20}, {"FlyV1 ", &base64, 20}, {"nfp_", &alnum, 20}, {"v1.0-", &wordy, 40},
	{"y0_", &wordy, 40}, {"AQVN", &wordy, 30}, {"t1.", &dotted, 40}, {"tskey-", &wordy, 16}, {"vcp_", &alnum, 20},
	// Code hosts and registries.
	{"ghp_", &alnum, 20}, {"gho_", &alnum, 20}, {"ghu_", &alnum, 20}, {"ghs_", &dotted, 20}, {"ghr_", &alnum, 20}, {"github_pat_", &wordy, 20},
	{"glpat-", &dotted, 16}, {"gldt-", &wordy, 16}, {"glrt-", &dotted, 16}, {"glcbt-", &wordy, 16}, {"glptt-", &wordy, 16}, {"glft-", &wordy, 16},
	{"glimt-", &wordy, 16}, {"glagent-", &wordy, 16}, {"glsoat-", &wordy, 16}, {"gloas-", &wordy, 16}, {"glffct-", &wordy, 16}, {"GR1348941", &wordy, 16},
	{"npm_", &alnum, 20}, {"pypi-", &wordy, 40}, {"rubygems_", &hexa, 32}, {"cio", &alnum, 32}, {"oy2", &alnum, 43}, {"CLOJARS_", &alnum, 20},
	{"dckr_pat_", &wordy, 16}, {"dckr_oat_", &wordy, 16}, {"AKCp", &alnum, 30}, {"cmVmdGtu", &alnum, 30}, {"sgp_", &wordy, 20}, {"CCIPAT_", &wordy, 20}, {"bkua_", &alnum, 20},
	{"ATATT3", &base64, 30}, {"ATCTT3", &base64, 30}, {"ATBB", &alnum, 20}, {"ATTA", &alnum, 40}, {"sqp_", &alnum, 20}, {"squ_", &alnum, 20}, {"sqa_", &alnum, 20},
	// Models.
	{"sk-ant-", &wordy, 16}, {"sk-proj-", &wordy, 16}, {"sk-svcacct-", &wordy, 16}, {"sk-admin-", &wordy, 16}, {"sk-or-", &wordy, 16}, {"sk-lf-", &wordy, 16}, {"sk-", &alnum, 20},
	{"gsk_", &alnum, 20}, {"xai-", &alnum, 20}, {"pplx-", &alnum, 20}, {"r8_", &alnum, 20}, {"hf_", &alnum, 20}, {"api_org_", &alnum, 20},
	{"lsv2_pt_", &wordy, 20}, {"lsv2_sk_", &wordy, 20}, {"tvly-", &wordy, 16}, {"nvapi-", &wordy, 20}, {"fw_", &alnum, 22}, {"tgp_v1_", &wordy, 20},
	// Messages and mail.
	{"xoxb-", &wordy, 16}, {"xoxp-", &wordy, 16}, {"xoxa-", &wordy, 16}, {"xoxr-", &wordy, 16}, {"xoxs-", &wordy, 16}, {"xoxc-", &wordy, 16}, {"xoxd-", &broad, 16},
	{"xoxe-", &wordy, 16}, {"xoxe.", &dotted, 16}, {"xapp-", &wordy, 16}, {"hooks.slack.com/services/", &base64, 20}, {"hooks.slack.com/workflows/", &base64, 20},
	{"discord.com/api/webhooks/", &base64, 30}, {"discordapp.com/api/webhooks/", &base64, 30},
	{"SG.", &dotted, 30}, {"SK", &hexa, 32}, {"key-", &hexa, 32}, {"xkeysib-", &wordy, 30}, {"xsmtpsib-", &wordy, 30}, {"re_", &wordy, 24}, {"tk_", &alnum, 29},
	// Money and shops.
	{"sk_live_", &alnum, 10}, {"sk_test_", &alnum, 10}, {"rk_live_", &alnum, 10}, {"rk_test_", &alnum, 10}, {"whsec_", &base64, 16}, {"access_token$", &broad, 20},
	{"shpat_", &hexa, 20}, {"shpca_", &hexa, 20}, {"shppa_", &hexa, 20}, {"shpss_", &hexa, 20}, {"sq0atp-", &wordy, 16}, {"sq0csp-", &wordy, 16}, {"EAAA", &base64, 40}, {"EAAC", &alnum, 40},
	{"EZAK", &alnum, 40}, {"EZTK", &alnum, 40}, {"FLWSECK", &wordy, 12}, {"duffel_live_", &wordy, 20}, {"duffel_test_", &wordy, 20}, {"shippo_live_", &hexa, 20}, {"shippo_test_", &hexa, 20},
	{"access-production-", &wordy, 30}, {"access-sandbox-", &wordy, 30},
	// Tools of teams.
	{"lin_api_", &alnum, 20}, {"lin_oauth_", &alnum, 20}, {"secret_", &alnum, 30}, {"ntn_", &alnum, 30}, {"figd_", &wordy, 20}, {"figo_", &wordy, 20}, {"PMAK-", &wordy, 20},
	{"CFPAT-", &wordy, 20}, {"tfp_", &wordy, 30}, {"rdme_", &alnum, 30}, {"pnu_", &alnum, 20}, {"aio_", &alnum, 20}, {"p8e-", &alnum, 20}, {"ops_eyJ", &base64, 20}, {"pat-na1-", &wordy, 20}, {"pat-eu1-", &wordy, 20},
	// Operations and databases.
	{"dapi", &hexa, 32}, {"glsa_", &wordy, 20}, {"glc_", &base64, 20}, {"hvs.", &wordy, 20}, {"hvb.", &wordy, 20}, {"hvr.", &wordy, 20}, {"pul-", &hexa, 32},
	{"dp.pt.", &alnum, 20}, {"dp.st.", &dotted, 20}, {"dp.ct.", &alnum, 20}, {"dp.sa.", &alnum, 20}, {"dp.scim.", &alnum, 20}, {"dp.audit.", &alnum, 20},
	{"sbp_", &hexa, 20}, {"sb_secret_", &wordy, 16}, {"pscale_tkn_", &dotted, 20}, {"pscale_oauth_", &dotted, 20}, {"pscale_pw_", &dotted, 20}, {"npg_", &alnum, 12},
	{"NRAK-", &alnum, 20}, {"NRII-", &wordy, 20}, {"NRJS-", &hexa, 16}, {"sntrys_", &base64, 30}, {"sntryu_", &hexa, 30}, {"dt0c01.", &dotted, 30}, {"dt0s01.", &dotted, 30},
	{"ico-", &alnum, 30}, {"AGE-SECRET-KEY-1", &capit, 40}, {"AGE-PLUGIN-", &capit, 40}, {"sk.eyJ", &dotted, 30}, {"eyJrIjoi", &base64, 30}, {"A3-", &capit, 30},
	{"api-", &wordy, 36}, {"sdk-", &wordy, 36}, {"phx_", &alnum, 30}, {"pscale_", &dotted, 30}, {"ollama_", &alnum, 30}, {"ubc_", &wordy, 30},
}

// pairs is the two bytes that some words begin with: nearly all others are
// told apart by it.
type pairs [256][4]uint64

func (p *pairs) add(word string) { p[word[0]][word[1]/64] |= 1 << (word[1] % 64) }

func (p *pairs) has(s string, i int) bool {
	return i+1 < len(s) && p[s[i]][s[i+1]/64]&(1<<(s[i+1]%64)) != 0
}

var kindPairs = func() *pairs {
	p := new(pairs)
	for _, k := range kinds {
		p.add(k.prefix)
	}
	return p
}()

// byFirst finds kinds by their first byte.
var byFirst = func() (out [256][]kind) {
	for _, k := range kinds {
		out[k.prefix[0]] = append(out[k.prefix[0]], k)
	}
	return out
}()
