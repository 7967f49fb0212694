import { GatewayError } from '#kernel/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { IntegrationCredentials } from '#modules/connections/integrations/integration.ts';
import type {
  ConnectionRule,
  SignatureRule,
  WebhookRules,
} from '#modules/connections/providers/webhook-rules.ts';
import { holds, valueOf, type WebhookFacts } from './facts.ts';
import type { SignedRequest } from './signed-text.ts';
import {
  invalid,
  isOfConnection,
  missingWebhookSecret,
  secretOfIntegration,
  signatureRuleOf,
  usableSecret,
  verifySignature,
  type VerifiedRequest,
} from './verify.ts';

/** The connections of an integration. */
export interface AttributionContext {
  readonly rules: WebhookRules;
  readonly credentials: IntegrationCredentials | null;
  /** The address of the webhook. */
  readonly address: () => string;
  /** Seconds since the epoch. */
  readonly now: number;
  connections(property: string, value: string): Promise<readonly Connection[]>;
  allConnections(): readonly Connection[];
  metadata(connection: Connection): Promise<JsonObject>;
}

/** The body of an event with its connections. */
export interface AttributedEvent {
  readonly body: Json;
  readonly connections: readonly Connection[];
  /** Verified by a secret of each of its connections. */
  readonly isVerified: boolean;
}

/**
 * The events with their connections, of which a secret of the connection may have signed the request.
 * @throws GatewayError the rejection (docs/reference/webhooks-in.md#answers)
 */
export async function attribute(
  { request, facts, events }: VerifiedRequest,
  context: AttributionContext,
): Promise<AttributedEvent[]> {
  const signed: SignedRequest = { request, facts, address: context.address };
  const rule = signatureRuleOf(signed, context.rules);
  const attributed: AttributedEvent[] = [];
  for (const body of events) {
    const found = await findConnections({ ...facts, body }, context, facts);
    const { connections, isToken } = found;
    const checked =
      rule !== null && isOfConnection(rule)
        ? await checkedConnections(rule, signed, context, found)
        : { genuine: connections, isVerified: isToken };
    attributed.push({ body, connections: checked.genuine, isVerified: checked.isVerified });
  }
  return attributed;
}

/** Connections whose secret signed the request. */
interface CheckedConnections {
  readonly genuine: readonly Connection[];
  readonly isVerified: boolean;
}

/**
 * The connections whose own secret signed the request, or that of the integration where a connection has none.
 * @throws GatewayError when there is none
 */
async function checkedConnections(
  rule: SignatureRule,
  signed: SignedRequest,
  context: AttributionContext,
  { connections, identifier }: FoundConnections,
): Promise<CheckedConnections> {
  if (connections.length === 0) return checkedByIntegration(rule, signed, context);
  const genuine: Connection[] = [];
  let verified = 0;
  let refusal: unknown = null;
  for (const connection of connections) {
    try {
      const metadata = await context.metadata(connection);
      const secrets = rule.keys.map((key) =>
        typeof key === 'string'
          ? secretOfIntegration(key, context.credentials)
          : secretIn(metadata, key.metadata, identifier),
      );
      const secret = usableSecret(rule, secrets, () => missingSecret(connection));
      if (secret !== null) {
        verifySignature(rule, signed, secret, context.now);
        verified += 1;
      }
      genuine.push(connection);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusal ??= error;
    }
  }
  if (genuine.length === 0 && refusal instanceof GatewayError) throw refusal;
  return { genuine, isVerified: verified > 0 && verified === genuine.length };
}

/** A request of no connection, which a secret of the integration signs where the rule has one. */
function checkedByIntegration(
  rule: SignatureRule,
  signed: SignedRequest,
  { credentials, now }: AttributionContext,
): CheckedConnections {
  const keys = rule.keys.filter((key) => typeof key === 'string');
  if (keys.length === 0) return { genuine: [], isVerified: false };
  const secrets = keys.map((key) => secretOfIntegration(key, credentials));
  const secret = usableSecret(rule, secrets, missingWebhookSecret);
  if (secret !== null) verifySignature(rule, signed, secret, now);
  return { genuine: [], isVerified: secret !== null };
}

const missingSecret = ({ connectionId }: Connection): GatewayError =>
  new GatewayError('webhook_missing_secret', {
    message: `The metadata of the connection "${connectionId}" contains no secret for this webhook.`,
  });

function secretIn(
  metadata: JsonObject,
  path: readonly string[],
  identifier: string | null,
): string | null {
  let value: Json = metadata;
  for (const part of path) {
    const name = part === '$identifier' ? (identifier ?? '') : part;
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return null;
    value = value[name] ?? null;
  }
  return typeof value === 'string' ? value : null;
}

/** The connections that an event names. */
interface FoundConnections {
  readonly connections: readonly Connection[];
  /** The identifier that found them. */
  readonly identifier: string | null;
  /** The identifier counts as a signature. */
  readonly isToken: boolean;
}

async function findConnections(
  part: WebhookFacts,
  context: AttributionContext,
  whole: WebhookFacts,
): Promise<FoundConnections> {
  const { connection: rules, is_for_all: isForAll } = context.rules;
  if (rules === undefined) {
    const connections = isForAll ? context.allConnections() : [];
    return { connections, identifier: null, isToken: false };
  }
  let isNamed = false;
  for (const rule of rules) {
    if (rule.when !== undefined && !holds(part, rule.when)) continue;
    const identifier = valueOf(part, rule.identifier) ?? valueOf(whole, rule.identifier);
    if (identifier === null) continue;
    isNamed = true;
    const connections = await context.connections(rule.property, identifier);
    if (connections.length > 0) return { connections, identifier, isToken: rule.is_token };
  }
  for (const rule of rules) refuseUnattributed(rule, isNamed);
  return { connections: [], identifier: null, isToken: false };
}

/** @throws GatewayError when the rule requires a connection */
function refuseUnattributed(rule: ConnectionRule, isNamed: boolean): void {
  const names = namesOf(rule.identifier);
  if (rule.is_token) {
    if (isNamed) throw invalid('The token belongs to no connection.');
    const message = `The webhook has no token (${names}).`;
    throw new GatewayError('webhook_missing_token', { message });
  }
  if (!rule.is_required) return;
  if (isNamed) {
    throw new GatewayError('unknown_connection', {
      message: 'The webhook belongs to no connection.',
    });
  }
  const message = `The webhook does not name its connection (${names}).`;
  throw new GatewayError('webhook_missing_connection_id', { message });
}

const namesOf = (sources: readonly { readonly [where: string]: string | undefined }[]): string =>
  sources.flatMap((source) => Object.entries(source).map((entry) => entry.join(' '))).join(', ');
