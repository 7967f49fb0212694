import { createHash, createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { IntegrationCredentials } from '#modules/connections/integrations/integration.ts';
import { judge } from '#modules/webhooks/webhooks-in/process.ts';
import type { Verdict } from '#modules/webhooks/webhooks-in/verdict.ts';
import { builtInCatalogue } from '../worlds/catalogue.ts';

export const now = 1_790_000_000;
export const address = 'https://gateway.example/webhook/env/key';
export const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const ed25519 = generateKeyPairSync('ed25519');
const ed25519PublicKey = ed25519.publicKey.export({ type: 'spki', format: 'pem' }).toString();
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
export const secret = 'a-webhook-secret';
const app = { appId: '7', privateKey: 'PEM', appLink: 'https://github.example/apps/x' };
const appKey = createHash('sha256').update('7PEMhttps://github.example/apps/x').digest('hex');
const mac = (
  text: string,
  as: 'hex' | 'base64' = 'hex',
  key: string | Buffer = secret,
  hash = 'sha256',
) => createHmac(hash, key).update(text).digest(as);

/** One genuine webhook of a provider as its documentation has it, and what the rules are to find in it. */
interface Case {
  readonly provider: string;
  readonly body: JsonObject | readonly JsonObject[];
  /** What signs the text of the body. */
  readonly sign?: (body: string) => Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly search?: string;
  readonly credentials?: Partial<IntegrationCredentials>;
  readonly metadata?: JsonObject;
  /** Property and value that its connection is found by. */
  readonly found: readonly [property: string, value: string];
  readonly types: readonly (string | null)[];
  /** Id of the delivery; absent where the provider documents none that its repeats carry. */
  readonly id?: string;
  /** Without a secret of the integration it is taken unsigned. */
  readonly isOptional?: true;
}

/** Signed as Standard Webhooks has it. */
export const standard = (body: string, key: Buffer) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(now),
  'webhook-signature': `v1,${mac(`msg_1.${now}.${body}`, 'base64', key)}`,
});
const raw = Buffer.from('standard secret of a connection');
const whsec = `whsec_${raw.toString('base64')}`;

export const cases: readonly Case[] = [
  {
    provider: 'slack',
    body: { type: 'event_callback', team_id: 'T1', event_id: 'Ev1' },
    sign: (body) => ({
      'x-slack-signature': `v0=${mac(`v0:${now}:${body}`)}`,
      'x-slack-request-timestamp': String(now),
    }),
    found: ['team.id', 'T1'],
    types: ['event_callback'],
    id: 'Ev1',
    isOptional: true,
  },
  {
    provider: 'github',
    body: { action: 'opened' },
    sign: (body) => ({ 'x-hub-signature-256': `sha256=${mac(body)}` }),
    headers: { 'x-github-event': 'issues', 'x-github-delivery': 'd1' },
    search: 'svcConnectionId=acme',
    found: ['connectionId', 'acme'],
    types: ['issues'],
    id: 'd1',
  },
  ...['github-app', 'github-app-oauth'].map((provider) => ({
    provider,
    body: { installation: { id: 42 } },
    sign: (body: string) => ({ 'x-hub-signature-256': `sha256=${mac(body, 'hex', appKey)}` }),
    headers: { 'x-github-event': 'push', 'x-github-delivery': 'd2' },
    credentials: { ...app, webhookSecret: null },
    found: ['installation_id', '42'] as const,
    types: ['push'],
    id: 'd2',
  })),
  {
    provider: 'stripe',
    body: { id: 'evt_1', type: 'charge.succeeded', account: 'acct_1' },
    sign: (body) => ({
      'stripe-signature': `t=${now},v1=${'0'.repeat(64)},v1=${mac(`${now}.${body}`)}`,
    }),
    found: ['stripe_user_id', 'acct_1'],
    types: ['charge.succeeded'],
    id: 'evt_1',
  },
  {
    provider: 'hubspot',
    body: [
      { portalId: 9, subscriptionType: 'contact.propertyChange', occurredAt: 1 },
      { portalId: 9, subscriptionType: 'contact.creation', occurredAt: 2 },
      { portalId: 9, subscriptionType: 'contact.deletion', changeSource: 'IMPORT' },
    ],
    sign: (body) => ({
      'x-hubspot-signature': createHash('sha256').update(`client${body}`).digest('hex'),
    }),
    credentials: { clientSecret: 'client' },
    found: ['hub_id', '9'],
    types: ['contact.creation', 'contact.propertyChange'],
  },
  {
    provider: 'shopify',
    body: { id: 1 },
    sign: (body) => ({ 'x-shopify-hmac-sha256': mac(body, 'base64', 'client') }),
    headers: {
      'x-shopify-shop-domain': 'toys.myshopify.example',
      'x-shopify-topic': 'orders/create',
      'x-shopify-event-id': 'ev-1',
    },
    credentials: { clientSecret: 'client' },
    found: ['subdomain', 'toys'],
    types: ['orders/create'],
    id: 'ev-1',
  },
  {
    provider: 'linear',
    body: { organizationId: 'o1', type: 'Issue' },
    sign: (body) => ({ 'linear-signature': mac(body) }),
    headers: { 'linear-delivery': 'l-1' },
    found: ['organizationId', 'o1'],
    types: ['Issue'],
    id: 'l-1',
  },
  ...['baseUrl', 'siteUrl'].map((property) => ({
    provider: 'jira',
    body: {
      webhookEvent: 'jira:issue_updated',
      issue: { self: 'https://toys.atlassian.example/rest/api/2/issue/1' },
    },
    sign: (body: string) => ({ 'x-hub-signature': `sha256=${mac(body)}` }),
    headers: { 'x-atlassian-webhook-identifier': 'j-1' },
    found: [property, 'https://toys.atlassian.example'] as const,
    types: ['jira:issue_updated'],
    id: 'j-1',
    isOptional: true as const,
  })),
  {
    provider: 'intercom',
    body: { app_id: 'a1', topic: 'conversation.user.created', id: 'notif_1' },
    sign: (body) => ({ 'x-hub-signature': `sha1=${mac(body, 'hex', 'client', 'sha1')}` }),
    credentials: { clientSecret: 'client' },
    found: ['app_id', 'a1'],
    types: ['conversation.user.created'],
  },
  {
    provider: 'notion',
    body: { workspace_id: 'w1', type: 'page.created', id: 'n1' },
    sign: (body) => ({ 'x-notion-signature': `sha256=${mac(body)}` }),
    found: ['workspace_id', 'w1'],
    types: ['page.created'],
    isOptional: true,
  },
  {
    provider: 'xero',
    body: {
      events: [
        { tenantId: 't1', eventType: 'UPDATE' },
        { tenantId: 't1', eventType: 'CREATE' },
      ],
    },
    sign: (body) => ({ 'x-xero-signature': mac(body, 'base64') }),
    found: ['tenant_id', 't1'],
    types: ['UPDATE', 'CREATE'],
  },
  {
    provider: 'calendly',
    body: { event: 'invitee.created', created_by: 'https://api.calendly.example/users/1' },
    sign: (body) => ({ 'calendly-webhook-signature': `t=${now},v1=${mac(`${now}.${body}`)}` }),
    found: ['owner', 'https://api.calendly.example/users/1'],
    types: ['invitee.created'],
    isOptional: true,
  },
  {
    provider: 'attio',
    body: { events: [{ id: { workspace_id: 'w2' }, event_type: 'record.created' }] },
    sign: (body) => ({ 'x-attio-signature': mac(body) }),
    found: ['workspace_id', 'w2'],
    types: ['record.created'],
    isOptional: true,
  },
  {
    provider: 'cal-com',
    body: { triggerEvent: 'BOOKING_CREATED', svcConnectionId: 'acme' },
    sign: (body) => ({ 'x-cal-signature-256': mac(body) }),
    found: ['connectionId', 'acme'],
    types: ['BOOKING_CREATED'],
    isOptional: true,
  },
  {
    provider: 'salesforce',
    body: { svc: { connectionId: 'acme', eventType: 'Account' } },
    found: ['connectionId', 'acme'],
    types: ['Account'],
  },
  ...['airtable', 'airtable-pat'].map((provider) => ({
    provider,
    body: { base: { id: 'app1' }, webhook: { id: 'ach1' } },
    sign: (body: string) => ({ 'x-airtable-content-mac': `hmac-sha256=${mac(body, 'hex', raw)}` }),
    metadata: { webhooks: { ach1: { macSecretBase64: raw.toString('base64') } } },
    found: ['metadata.webhooks', 'ach1'] as const,
    types: [null],
  })),
  {
    provider: 'granola',
    body: {
      event_id: 'evt_1',
      event_type: 'note.generated',
      note_id: 'not_1d3tmYTlCICgjy',
      occurred_at: '2026-01-27T16:00:00Z',
    },
    sign: (body) => standard(body, raw),
    search: 'svcConnectionId=acme',
    metadata: { webhookSecret: whsec },
    found: ['connectionId', 'acme'],
    types: ['note.generated'],
    id: 'msg_1',
  },
  ...['gitlab', 'gitlab-pat'].map((provider) => ({
    provider,
    body: { object_kind: 'push' },
    sign: () => ({ 'x-gitlab-token': 'token-of-acme' }),
    headers: {
      'x-gitlab-event': 'Push Hook',
      'idempotency-key': 'k-1',
      'x-gitlab-event-uuid': 'r-1',
    },
    search: 'svcConnectionId=acme',
    metadata: { webhookSecret: 'token-of-acme' },
    found: ['connectionId', 'acme'] as const,
    types: ['Push Hook'],
    id: 'k-1',
  })),
  {
    provider: 'gitlab',
    body: { object_kind: 'tag_push' },
    sign: (body) => standard(body, raw),
    headers: { 'x-gitlab-event': 'Tag Push Hook' },
    search: 'svcConnectionId=acme',
    metadata: { webhookSecret: whsec },
    found: ['connectionId', 'acme'],
    types: ['Tag Push Hook'],
    id: 'msg_1',
  },
  {
    provider: 'pagerduty',
    body: { event: { id: 'e1', event_type: 'incident.triggered' } },
    sign: (body) => ({ 'x-pagerduty-signature': `v1=${'0'.repeat(64)},v1=${mac(body)}` }),
    headers: { 'x-svc-connection-id': 'acme' },
    metadata: { webhookSecret: secret },
    found: ['connectionId', 'acme'],
    types: ['incident.triggered'],
  },
  {
    provider: 'fathom',
    body: {
      title: 'Quarterly Business Review',
      recording_id: 123456789,
      share_url: 'https://fathom.example/share/abc123',
      recorded_by: { name: 'Ann', email: 'ann@acme.example', team: 'Marketing' },
    },
    sign: (body) => standard(body, raw),
    metadata: { webhookSecret: whsec },
    found: ['metadata.emailAddress', 'ann@acme.example'],
    types: ['new-meeting-content-ready'],
    id: 'msg_1',
  },
  {
    provider: 'folk',
    body: { type: 'person.created' },
    sign: (body) => standard(body, raw),
    search: 'svcConnectionId=acme',
    metadata: { webhookSecret: whsec },
    found: ['connectionId', 'acme'],
    types: ['person.created'],
    id: 'msg_1',
  },
  ...(
    [
      [{ locationId: 'l1' }, ['locationId', 'l1']],
      [{ altType: 'location', altId: 'l2' }, ['locationId', 'l2']],
      [{ altType: 'company', altId: 'c1', companyId: 'c1' }, ['companyId', 'c1']],
    ] as const
  ).map(([named, found]) => ({
    provider: 'highlevel',
    body: { type: 'ContactCreate', webhookId: 'w-1', ...named },
    sign: (body: string) => {
      const signature = signWith(null, Buffer.from(body), ed25519.privateKey);
      return { 'x-ghl-signature': signature.toString('base64') };
    },
    credentials: { webhookSecret: ed25519PublicKey },
    found,
    types: ['ContactCreate'],
  })),
  {
    provider: 'jobber',
    body: { data: { webHookEvent: { topic: 'CLIENT_CREATE', accountId: 'j1' } } },
    sign: (body) => ({ 'x-jobber-hmac-sha256': mac(body, 'base64', 'client') }),
    credentials: { clientSecret: 'client' },
    found: ['accountId', 'j1'],
    types: ['CLIENT_CREATE'],
  },
  {
    provider: 'microsoft-teams',
    body: { id: 'm1', type: 'message', channelData: { tenant: { id: 't1' } } },
    found: ['tenantId', 't1'],
    types: ['message'],
  },
  {
    provider: 'autotask',
    body: { Guid: 'g1', EntityType: 'Ticket' },
    sign: (body) => ({ 'x-hook-signature': `sha1=${mac(body, 'base64', secret, 'sha1')}` }),
    found: ['webhookGuid', 'g1'],
    types: ['Ticket'],
  },
  {
    provider: 'streak',
    body: { boxKey: 'b1' },
    headers: { 'x-streak-webhook-token': 'token-of-acme' },
    found: ['streakWebhookToken', 'token-of-acme'],
    types: [null],
  },
  {
    provider: 'fillout',
    body: [{ formId: 'f1', formName: 'Survey', submission: { submissionId: 's1', questions: [] } }],
    found: ['metadata.formId', 'f1'],
    types: [null],
  },
  {
    provider: 'unauthenticated',
    body: { connectionId: 'acme', type: 'ping' },
    found: ['connectionId', 'acme'],
    types: ['ping'],
  },
  {
    provider: 'outlook-client-credentials',
    body: { value: [{ tenantId: 't1', changeType: 'created', clientState: secret }] },
    found: ['tenantId', 't1'],
    types: ['created'],
  },
  ...(
    [
      ['emailAddressHash', sha256('ann@acme.example')],
      ['metadata.emailAddress', 'ann@acme.example'],
      ['metadata.email', 'ann@acme.example'],
    ] as const
  ).map((found) => ({
    provider: 'gmail',
    body: {
      message: {
        messageId: 'p1',
        data: Buffer.from('{"emailAddress":"ann@acme.example"}').toString('base64'),
      },
    },
    found,
    types: [null],
    id: 'p1',
  })),
];

export const acme = { uid: 'u1', connectionId: 'acme' } as Connection;

export async function judged(
  one: Case,
  more: { signed?: string; sent?: string; headers?: object } = {},
): Promise<Verdict> {
  const text = JSON.stringify(one.body);
  const { signed = text, sent = text } = more;
  const headers = {
    'content-type': 'application/json',
    ...one.headers,
    ...one.sign?.(signed),
    ...more.headers,
  } as Record<string, string>;
  const rules = builtInCatalogue().find(one.provider)?.webhook_routing;
  if (rules === undefined) throw new Error(`${one.provider} has no rules`);
  const given = { type: 'OAUTH2', webhookSecret: secret, ...one.credentials };
  const isSigned = Object.values(headers).every((value) => value !== '');
  const present = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
  const judgment = await judge(
    { headers: isSigned ? headers : present, search: one.search ?? '', bytes: Buffer.from(sent) },
    {
      rules,
      now,
      credentials: given,
      connections: async (...asked) => (asked.join() === one.found.join() ? [acme] : []),
      allConnections: () => [],
      metadata: async () => one.metadata ?? {},
      address: () => address,
      publicKeys: async () => ({
        keys: [{ ...rsa.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256' }],
      }),
    },
  );
  return judgment.verdict;
}

export const codeOf = (judging: Promise<Verdict>): Promise<string> =>
  judging.then(
    () => 'taken',
    (error: unknown) => (error instanceof GatewayError ? error.code : 'another error'),
  );
