import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { readBytes } from '#http/body.ts';
import { integrationKey } from '#http/fields.ts';
import { takeQuota } from '#http/rate-limit.ts';
import type { StreamCall, StreamRoute } from '#http/stream-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { openIntegrationCredentials } from '#modules/connections/credentials/sealing.ts';
import type { IntegrationCredentials } from '#modules/connections/integrations/integration.ts';
import type { ChallengeRule, WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import type { WebhooksServices } from '../services.ts';
import { answerOf, requireSecret, type ChallengeAnswer } from './challenge.ts';
import { holds, valueOf, type WebhookFacts } from './facts.ts';
import { accept, arrivalOf, judgeArrived } from './process.ts';
import { receiverOf, type IntegrationAddress } from './receiver.ts';
import { invalid, isEqual } from './verify.ts';

const tooLargeFix =
  'Have the provider send fewer events at a time, or ids in place of contents: a webhook has at most 3 MiB.';

const path = z.tuple([z.uuid(), integrationKey]);

/** Where providers send their webhooks. */
export const webhookRoute: StreamRoute<WebhooksServices> = {
  prefix: '/webhook/',
  path: '/webhook/{environmentUuid}/{providerConfigKey}',
  methods: ['GET', 'POST'],
  takesHead: true,
  credential: 'none',
  scopes: [],
  summary: 'Receive a webhook of a provider.',
  description:
    'It is verified, stored, forwarded to the application, and starts the syncs that subscribe to it. A GET or HEAD is answered only where the definition of the provider has `challenges`.',
  params: z.object({
    environmentUuid: z.uuid().describe('UUID of the environment.'),
    providerConfigKey: integrationKey,
  }),
  headers: z.object({}),
  errors: [
    'invalid_uri_params',
    'unknown_environment',
    'unknown_provider_config',
    'webhook_unknown_provider',
    'webhook_missing_signature',
    'webhook_invalid_signature',
    'webhook_missing_token',
    'webhook_missing_secret',
    'webhook_missing_connection_id',
    'webhook_invalid_payload',
    'webhook_no_connection_or_existing_installation_id',
    'unknown_connection',
    'request_too_large',
    'method_not_allowed',
  ],
  async handle(call) {
    const { request, response, services } = call;
    const address = namesOf(call.target);
    if (request.method !== 'POST') {
      await handleChallenge(call, address);
      return;
    }
    const receiver = await receiverOf(services, address);
    if (receiver === null) {
      await checkRate(call, address, 'all');
      call.begin(204, []);
      response.end();
      return;
    }
    const bytes = await readBytes(request, limits.webhookInBytesMax, { fix: tooLargeFix });
    const incoming = { headers: headersOf(request), search: address.search, bytes };
    const webhook = arrivalOf(services, incoming);
    const judgment = await judgeArrived(services, receiver, webhook);
    const { isVerified, answer: handshake } = judgment.verdict;
    await checkRate(call, address, isVerified ? 'verified' : 'unverified');
    await accept(services, receiver, webhook, judgment);
    answer(call, handshake);
  },
};

/**
 * A GET or HEAD with which a provider verifies the address. Nothing of it is stored.
 * @throws GatewayError `method_not_allowed` (the provider has no challenges); the refusal of the challenge
 */
async function handleChallenge(
  call: StreamCall<WebhooksServices>,
  address: WebhookAddress,
): Promise<void> {
  const { request, response, services } = call;
  const receiver = await receiverOf(services, address);
  if (receiver === null || receiver.rules.challenges.length === 0) {
    call.setHeader('allow', 'POST, OPTIONS');
    throw new GatewayError('method_not_allowed');
  }
  await checkRate(call, address, 'unverified');
  const credentials = await openIntegrationCredentials(services.vault, receiver.integration);
  const incoming = { headers: headersOf(request), search: address.search };
  const { contentType, body } = answerChallenge(incoming, receiver.rules, credentials);
  call.begin(200, [
    ...['content-type', contentType ?? 'text/plain; charset=utf-8'],
    ...['cache-control', 'no-store'],
    ...['content-security-policy', "default-src 'none'; sandbox"],
  ]);
  response.end(body);
}

/**
 * Counts accepted webhooks of the integration, with a separate limit for verified ones, so that unknown senders cannot
 * exhaust it.
 * @throws GatewayError `too_many_request` when the limit is enforced
 */
async function checkRate(
  { services, setHeader }: StreamCall<WebhooksServices>,
  address: WebhookAddress,
  what: 'all' | 'verified' | 'unverified',
): Promise<void> {
  const integration = `${address.environmentUid}/${address.integrationKey}`;
  const who = `webhooks:${integration}${what === 'unverified' ? '/unverified' : ''}`;
  const limit = limits.webhooksInPerMinute;
  const { headers, refusal } = await takeQuota(services, who, { cost: 1, limit });
  services.metrics.count('svc_webhooks_in_total', [refusal === null ? 'within' : 'over']);
  if (services.settings.webhookRateLimit === 'count') return;
  for (const [name, value] of Object.entries(headers)) setHeader(name, value);
  if (refusal !== null) throw refusal;
}

function answer(
  { response, begin }: StreamCall<WebhooksServices>,
  handshake: ChallengeAnswer | null,
): void {
  if (handshake === null) {
    begin(200, ['content-type', 'application/json']);
    response.end('{"status":"success"}');
    return;
  }
  const { contentType, body, header } = handshake;
  begin(200, [...(contentType === null ? [] : ['content-type', contentType]), ...(header ?? [])]);
  response.end(body);
}

interface WebhookAddress extends IntegrationAddress {
  readonly search: string;
}

/** @throws GatewayError `invalid_uri_params`, `not_found` */
function namesOf(target: string): WebhookAddress {
  const mark = target.indexOf('?');
  const search = mark < 0 ? '' : target.slice(mark + 1);
  const parts = target.slice(1, mark < 0 ? undefined : mark).split('/');
  if (parts.length !== 2)
    throw new GatewayError('not_found', { message: 'The endpoint does not exist.' });
  let decoded: string[];
  try {
    decoded = parts.map((part) => decodeURIComponent(part));
  } catch (cause) {
    throw new GatewayError('invalid_uri_params', {}, { cause });
  }
  const parsed = path.safeParse(decoded);
  if (!parsed.success) {
    const message = 'The path is /webhook/<uuid of the environment>/<key of the integration>.';
    throw new GatewayError('invalid_uri_params', { message });
  }
  const [environmentUid, key] = parsed.data;
  return { environmentUid: environmentUid.toLowerCase(), integrationKey: key, search };
}

/** Lower-case names; a repeated header has the value that Node gives it. */
function headersOf(request: IncomingMessage): Record<string, string> {
  const named = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  return Object.fromEntries(named) as Record<string, string>;
}

/**
 * Answers a challenge by the provider's rules.
 * @throws GatewayError `webhook_invalid_payload` (no challenge, or a long one), `webhook_missing_secret`,
 *   `webhook_missing_token`, `webhook_invalid_signature`
 */
function answerChallenge(
  { headers, search }: { readonly headers: WebhookFacts['headers']; readonly search: string },
  { challenges }: WebhookRules,
  credentials: IntegrationCredentials | null,
): ChallengeAnswer {
  const facts: WebhookFacts = { headers, query: new URLSearchParams(search), body: {} };
  const rule = challenges.find(({ when }) => when === undefined || holds(facts, when));
  const value = rule === undefined ? null : valueOf(facts, [rule.answer]);
  if (rule === undefined || value === null) throw refused('The request contains no challenge.');
  if (value.length > limits.webhookChallengeCharsMax) throw refused('The challenge is too long.');
  checkToken(rule, facts, credentials);
  return answerOf(rule, value, credentials);
}

function checkToken(
  { token: source }: ChallengeRule,
  facts: WebhookFacts,
  credentials: IntegrationCredentials | null,
): void {
  if (source === undefined) return;
  const secret = requireSecret(credentials?.webhookSecret, 'webhook secret');
  const token = valueOf(facts, [source]);
  if (token === null) {
    throw new GatewayError('webhook_missing_token', { message: 'The challenge has no token.' });
  }
  if (!isEqual(token, secret)) throw invalid('The token of the challenge is wrong.');
}

const refused = (message: string): GatewayError =>
  new GatewayError('webhook_invalid_payload', { message });
