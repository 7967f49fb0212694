import { createHmac } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { IntegrationCredentials } from '#modules/connections/integrations/integration.ts';
import type { ChallengeRule, WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import { holds, valueOf, type WebhookFacts } from './facts.ts';
import { invalid, isBlank, isEqual } from './verify.ts';

/** The response to a provider that verifies the address by a GET. */
export interface ChallengeAnswer {
  readonly type: 'text/plain; charset=utf-8' | 'application/json';
  readonly body: string;
}

/**
 * Answers a challenge by the provider's rules.
 * @throws GatewayError `webhook_invalid_payload` (no challenge, or a long one), `webhook_missing_secret`,
 *   `webhook_missing_token`, `webhook_invalid_signature`
 */
export function answerChallenge(
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
  const { json } = rule;
  if (json === undefined) return { type: 'text/plain; charset=utf-8', body: value };
  const hmac = hmacOf(rule, value, credentials);
  const fields = Object.entries(json).map(([name, template]) => [
    name,
    template.replace(/\$(?:value|hmac)/, (token) => (token === '$value' ? value : hmac)),
  ]);
  return { type: 'application/json', body: JSON.stringify(Object.fromEntries(fields)) };
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

function hmacOf(
  { hmac: rule }: ChallengeRule,
  value: string,
  credentials: IntegrationCredentials | null,
): string {
  if (rule === undefined) return '';
  const secret =
    rule.key === 'client_secret'
      ? requireSecret(credentials?.clientSecret, 'client secret')
      : requireSecret(credentials?.webhookSecret, 'webhook secret');
  return createHmac('sha256', secret).update(value).digest(rule.encoding);
}

/** The empty text is no secret: anyone could send it. */
function requireSecret(secret: string | null | undefined, name: string): string {
  if (secret !== undefined && secret !== null && !isBlank(secret)) return secret;
  throw new GatewayError('webhook_missing_secret', { message: `The integration has no ${name}.` });
}

const refused = (message: string): GatewayError =>
  new GatewayError('webhook_invalid_payload', { message });
