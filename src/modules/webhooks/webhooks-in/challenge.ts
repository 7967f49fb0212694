import { createHmac } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import type { IntegrationCredentials } from '#modules/connections/integrations/integration.ts';
import type { ChallengeRule, HandshakeRule } from '#modules/connections/providers/webhook-rules.ts';
import { isBlank } from './verify.ts';

/** The response with which the owner of an address shows the provider that it answers. */
export interface ChallengeAnswer {
  /** Null for an empty body. */
  readonly contentType: 'text/plain; charset=utf-8' | 'application/json' | null;
  readonly body: string;
  /** A header that repeats the challenge. */
  readonly header: readonly [name: string, value: string] | null;
}

export const emptyAnswer: ChallengeAnswer = { contentType: null, body: '', header: null };

/**
 * The response to a challenge by the rules of the provider.
 * @throws GatewayError `webhook_missing_secret`; `webhook_invalid_payload`: it cannot be in a header
 */
export function answerOf(
  rule: ChallengeRule | HandshakeRule,
  value: string,
  credentials: IntegrationCredentials | null,
): ChallengeAnswer {
  const { json } = rule;
  const name = 'header' in rule ? rule.header : undefined;
  if (name !== undefined && !/^[\x21-\x7e]+$/.test(value)) {
    const message = 'The challenge contains characters that no header has.';
    throw new GatewayError('webhook_invalid_payload', { message });
  }
  const header = name === undefined ? null : ([name, value] as const);
  if (json === undefined) {
    if (header !== null || value === '') return { ...emptyAnswer, header };
    return { contentType: 'text/plain; charset=utf-8', body: value, header };
  }
  const hmac = hmacOf(rule, value, credentials);
  const fields = Object.entries(json).map(([field, template]) => [
    field,
    typeof template === 'number'
      ? template
      : template.replace(/\$(?:value|hmac)/, (token) => (token === '$value' ? value : hmac)),
  ]);
  const body = JSON.stringify(Object.fromEntries(fields));
  return { contentType: 'application/json', body, header };
}

function hmacOf(
  { hmac: rule }: ChallengeRule | HandshakeRule,
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
export function requireSecret(secret: string | null | undefined, name: string): string {
  if (secret !== undefined && secret !== null && !isBlank(secret)) return secret;
  throw new GatewayError('webhook_missing_secret', { message: `The integration has no ${name}.` });
}
