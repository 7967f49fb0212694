import { describe, expect, it } from 'vitest';
import { isRetried, retryWaitMs } from '#modules/connections/providers/call-retry.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';

const catalogue = loadCatalogue({ overlayPath: null });
const now = Date.UTC(2026, 10, 26, 12);
const inSeconds = (seconds: number) => String(now / 1000 + seconds);

interface Vector {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Null: the response is final. */
  readonly waitMs: number | null;
}

interface Documented {
  readonly providers: readonly string[];
  readonly documentation: string;
  readonly vectors: readonly Vector[];
}

const google = (reason: string) => ({
  error: { code: 403, message: reason, errors: [{ domain: 'usageLimits', reason }] },
});
const coded = (code: string) => ({ errors: [{ message: code, extensions: { code } }] });
const meta = (code: number) => ({ error: { message: 'limit', type: 'OAuthException', code } });

const documented: readonly Documented[] = [
  {
    providers: ['github', 'github-app', 'github-app-oauth', 'github-pat'],
    documentation:
      'https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit',
    vectors: [
      {
        status: 403,
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(90) },
        waitMs: 90_000,
      },
      {
        status: 429,
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(90) },
        waitMs: 90_000,
      },
      { status: 403, headers: { 'retry-after': '30' }, waitMs: 30_000 },
      {
        status: 403,
        headers: { 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': inSeconds(1800) },
        body: { message: 'You have exceeded a secondary rate limit.' },
        waitMs: 60_000,
      },
      {
        status: 403,
        headers: { 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': inSeconds(1800) },
        body: { message: 'Resource not accessible by integration' },
        waitMs: null,
      },
      {
        status: 502,
        headers: { 'x-ratelimit-remaining': '4999', 'x-ratelimit-reset': inSeconds(1800) },
        waitMs: 3_000,
      },
    ],
  },
  {
    providers: [
      'gmail',
      'google-bigquery',
      'google-calendar',
      'google-drive',
      'google-search-console',
      'google-workspace-admin',
      'youtube',
    ],
    documentation: 'https://developers.google.com/workspace/drive/api/guides/handle-errors',
    vectors: [
      { status: 403, body: google('rateLimitExceeded'), waitMs: 3_000 },
      { status: 403, body: google('userRateLimitExceeded'), waitMs: 3_000 },
      { status: 403, body: google('insufficientFilePermissions'), waitMs: null },
      { status: 403, body: google('dailyLimitExceeded'), waitMs: null },
      { status: 400, body: google('rateLimitExceeded'), waitMs: null },
    ],
  },
  {
    providers: ['linear', 'linear-api-key'],
    documentation: 'https://linear.app/developers/rate-limiting',
    vectors: [
      {
        status: 400,
        headers: {
          'x-ratelimit-requests-remaining': '0',
          'x-ratelimit-requests-reset': String(now + 45_000),
        },
        body: coded('RATELIMITED'),
        waitMs: 45_000,
      },
      {
        status: 400,
        headers: {
          'x-ratelimit-requests-remaining': '1200',
          'x-ratelimit-requests-reset': String(now + 45_000),
        },
        body: coded('RATELIMITED'),
        waitMs: 3_000,
      },
      { status: 400, body: coded('GRAPHQL_VALIDATION_FAILED'), waitMs: null },
      { status: 403, body: coded('FORBIDDEN'), waitMs: null },
    ],
  },
  {
    providers: ['shopify', 'shopify-api-key'],
    documentation: 'https://shopify.dev/docs/api/admin-graphql#status_and_error_codes',
    vectors: [
      { status: 200, body: coded('THROTTLED'), waitMs: 3_000 },
      { status: 200, body: coded('ACCESS_DENIED'), waitMs: null },
      { status: 200, body: { data: { shop: { id: '1' } } }, waitMs: null },
      { status: 429, headers: { 'retry-after': '2.0' }, waitMs: 2_000 },
    ],
  },
  {
    providers: ['jobber'],
    documentation: 'https://developer.getjobber.com/docs/using_jobbers_api/api_rate_limits/',
    vectors: [
      { status: 200, body: coded('THROTTLED'), waitMs: 3_000 },
      { status: 200, body: { data: {} }, waitMs: null },
    ],
  },
  {
    providers: ['salesforce', 'salesforce-sandbox'],
    documentation:
      'https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/errorcodes.htm',
    vectors: [
      {
        status: 403,
        body: [{ message: 'TotalRequests Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }],
        waitMs: 3_000,
      },
      {
        status: 403,
        body: [{ message: 'No access.', errorCode: 'INSUFFICIENT_ACCESS' }],
        waitMs: null,
      },
    ],
  },
  {
    providers: ['facebook', 'instagram'],
    documentation: 'https://developers.facebook.com/docs/graph-api/overview/rate-limiting',
    vectors: [
      ...[4, 17, 32, 613].map((code) => ({ status: 400, body: meta(code), waitMs: 3_000 })),
      { status: 403, body: meta(4), waitMs: 3_000 },
      { status: 400, body: meta(190), waitMs: null },
      { status: 400, body: meta(100), waitMs: null },
    ],
  },
  {
    providers: ['whatsapp-business'],
    documentation:
      'https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes',
    vectors: [
      ...[4, 80007, 130429, 131056].map((code) => ({
        status: 400,
        body: meta(code),
        waitMs: 3_000,
      })),
      { status: 400, body: meta(131009), waitMs: null },
    ],
  },
  {
    providers: ['affinity'],
    documentation: 'https://developer.affinity.co/pages/external-api-v2/rate-limits',
    vectors: [
      {
        status: 429,
        headers: {
          'x-ratelimit-limit-user-remaining': '0',
          'x-ratelimit-limit-user-reset': '41',
        },
        waitMs: 41_000,
      },
    ],
  },
  {
    providers: ['pipedrive'],
    documentation: 'https://pipedrive.readme.io/docs/core-api-concepts-rate-limiting',
    vectors: [
      {
        status: 429,
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '2' },
        waitMs: 2_000,
      },
    ],
  },
  {
    providers: ['microsoft-graph', 'outlook', 'sharepoint-online', 'microsoft-teams'],
    documentation: 'https://learn.microsoft.com/en-us/graph/throttling',
    vectors: [
      { status: 429, headers: { 'retry-after': '10' }, waitMs: 10_000 },
      { status: 503, headers: { 'retry-after': '10' }, waitMs: 10_000 },
      { status: 403, body: { error: { code: 'accessDenied' } }, waitMs: null },
    ],
  },
  {
    providers: ['slack'],
    documentation: 'https://docs.slack.dev/apis/web-api/rate-limits',
    vectors: [
      { status: 429, headers: { 'retry-after': '30' }, waitMs: 30_000 },
      { status: 200, body: { ok: false, error: 'channel_not_found' }, waitMs: null },
    ],
  },
  {
    providers: ['hubspot'],
    documentation:
      'https://developers.hubspot.com/docs/developer-tooling/platform/usage-guidelines',
    vectors: [
      { status: 429, body: { errorType: 'RATE_LIMIT', policyName: 'SECONDLY' }, waitMs: 3_000 },
      { status: 403, body: { category: 'MISSING_SCOPES' }, waitMs: null },
    ],
  },
];

const rows = documented.flatMap(({ providers, documentation, vectors }) =>
  providers.map((name) => [name, documentation, vectors] as const),
);

describe.each(rows)('limits of %s, as documented at %s', (name, _, vectors) => {
  it.each(vectors)('$status $headers $body: wait of $waitMs', (vector) => {
    const definition = catalogue.find(name)?.proxy?.retry;
    const { status, headers = {}, body = {}, waitMs } = vector;
    const reply = {
      status,
      statusText: '',
      headers,
      body: Buffer.from(JSON.stringify(body)),
      url: '',
    };
    expect(isRetried(reply, definition, [])).toBe(waitMs !== null);
    if (waitMs === null) return;
    expect(retryWaitMs(reply, { call: {}, provider: definition }, 0, now)).toBe(waitMs);
  });
});

it('Exact Online is not asked earlier than 30 s before the expiry', () => {
  const { token_expiration_buffer: seconds } = catalogue.find('exact-online') ?? {};
  expect(seconds).toBeLessThan(30);
});
