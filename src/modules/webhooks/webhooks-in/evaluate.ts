import { createHash } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { atPath } from '#kernel/json-path.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { isJsonObject } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { IntegrationCredentials } from '#modules/connections/integrations/integration.ts';
import type {
  ConnectionRule,
  KeySource,
  SignatureRule,
  WebhookRules,
} from '#modules/connections/providers/webhook-rules.ts';
import {
  holds,
  readRequest,
  valueAt,
  valueOf,
  type IncomingRequest,
  type ReadRequest,
} from './request.ts';
import { verifyToken, type TokenAround } from './verifiers/jwt.ts';
import { headerOf, holdsKey, invalid, isBlank, isEqual, verify } from './verifiers/signed.ts';

/** The context of the rules beside the request. */
export interface EvaluationContext extends TokenAround {
  readonly rules: WebhookRules;
  readonly credentials: IntegrationCredentials | null;
  connections(property: string, value: string): Promise<readonly Connection[]>;
  allConnections(): readonly Connection[];
  metadata(connection: Connection): Promise<JsonObject>;
}

/** One event of a delivery. */
export interface ProviderEvent {
  readonly type: string | null;
  readonly body: Json;
  readonly connections: readonly Connection[];
}

/** A verified webhook: its events and their connections. */
export interface Verdict {
  /** Body of the response to the provider; empty = no body; null = the default. */
  readonly answer: string | null;
  readonly body: Json;
  readonly type: string | null;
  readonly providerDeliveryId: string | null;
  /** The connections of an event. */
  readonly connections: readonly Connection[];
  readonly events: readonly ProviderEvent[];
  /** Whether it is forwarded to the application. */
  readonly isForwarded: boolean;
  /** Reports that an app was installed, for a connection that waits for the installation. */
  readonly installation: Installation | null;
  /** Verified by a secret of the integration or of each of its connections. */
  readonly isVerified: boolean;
}

/** The installation of an app at the provider. */
export interface Installation {
  /** Name of the user who requested it. */
  readonly handle: string;
  /** Null if the webhook does not contain it. */
  readonly id: string | null;
}

/**
 * Verifies and attributes a webhook by the provider's rules.
 * @throws GatewayError the rejection (docs/reference/webhooks-in.md#answers)
 */
export async function evaluate(
  incoming: IncomingRequest,
  context: EvaluationContext,
): Promise<Verdict> {
  const { rules } = context;
  const rule = signatureOf(incoming, rules);
  const isOfConnection = rule?.keys.some((key) => typeof key === 'object') === true;
  let isVerified = false;
  // Before the body is parsed, unless the secret is in a connection that the body names.
  if (rule !== null && !isOfConnection && !mayBeUnsigned(rules)) {
    isVerified = await check(rule, incoming, context);
  }
  const request = await readRequest(incoming, rules);
  const isUnsigned = rules.unsigned.some((condition) => holds(request, condition));
  if (rule !== null && !isOfConnection && mayBeUnsigned(rules) && !isUnsigned) {
    isVerified = await check(rule, incoming, context);
  }
  // An unsigned webhook is forwarded unchanged: it starts no function and belongs to no connection.
  if (isUnsigned) return { ...verdictOf(request, rules, [], false), isForwarded: true };
  const all = eventsOf(request, rules);
  const parts = withToken(all, context);
  if (repeatsSecret(parts, context)) isVerified = true;
  const events: ProviderEvent[] = [];
  let unverified = 0;
  for (const body of parts) {
    const part = { ...request, body };
    const found = await connectionsOf(part, context, request);
    const { connections } = found;
    const checked =
      rule !== null && isOfConnection
        ? await checkedConnections(rule, incoming, context, found)
        : { genuine: connections, isVerified: found.isToken };
    if (!checked.isVerified) unverified += 1;
    events.push({ type: typeOf(part, rules), body, connections: checked.genuine });
  }
  if (events.length > 0 && unverified === 0) isVerified = true;
  const isWhole = parts.length === all.length;
  return verdictOf(
    isWhole ? request : { ...request, body: bodyOf(parts, request, rules) },
    rules,
    events,
    isVerified,
  );
}

/** The body with only these events. */
function bodyOf(parts: readonly Json[], { body }: ReadRequest, { events }: WebhookRules): Json {
  if (events?.path === undefined || !isJsonObject(body)) return [...parts];
  return { ...body, [events.path]: [...parts] };
}

function verdictOf(
  request: ReadRequest,
  rules: WebhookRules,
  all: ProviderEvent[],
  isVerified: boolean,
): Verdict {
  const events = inOrder(
    all.filter(({ body }) => !rules.skip.some((skip) => holds({ ...request, body }, skip))),
    rules,
  );
  const shake = rules.handshakes.find(({ when }) => holds(request, when));
  const isHandshake = shake !== undefined && shake.answer !== null;
  const answer =
    shake === undefined
      ? null
      : shake.answer === null
        ? ''
        : (valueAt(request, shake.answer) ?? '');
  const connections = new Map(
    all.flatMap((event) => event.connections.map((one) => [one.uid, one] as const)),
  );
  return {
    answer,
    body: request.body,
    type: events[0]?.type ?? typeOf(request, rules),
    providerDeliveryId:
      rules.delivery_id === undefined ? null : valueOf(request, rules.delivery_id),
    connections: [...connections.values()],
    events: isHandshake ? [] : events,
    isForwarded: all.length > 0 && !isHandshake,
    installation: installationIn(request, rules),
    isVerified,
  };
}

function installationIn(request: ReadRequest, { installation }: WebhookRules): Installation | null {
  if (installation?.when.every((condition) => holds(request, condition)) !== true) return null;
  const handle = valueOf(request, installation.handle);
  return handle === null ? null : { handle, id: valueOf(request, installation.id) };
}

const mayBeUnsigned = (rules: WebhookRules): boolean => rules.unsigned.length > 0;

/** The rule whose header is present, otherwise the first; null when the provider signs nothing. */
function signatureOf(
  { headers }: IncomingRequest,
  { signatures }: WebhookRules,
): SignatureRule | null {
  const present = signatures.find((rule) => headers[headerOf(rule)] !== undefined);
  return present ?? signatures[0] ?? null;
}

/**
 * False when no signature is required and none was present.
 * @throws GatewayError the rejection
 */
async function check(
  rule: SignatureRule,
  incoming: IncomingRequest,
  context: EvaluationContext,
): Promise<boolean> {
  if (rule.scheme === 'jwt') {
    const token = incoming.headers[headerOf(rule)];
    await verifyToken(rule, token, context);
    return token !== undefined;
  }
  const { credentials, now } = context;
  const secrets = rule.keys.map((key) => secretOfIntegration(key, credentials));
  const secret = usableSecret(rule, secrets, missingWebhookSecret);
  if (secret !== null) verify(rule, incoming, secret, now);
  return secret !== null;
}

/**
 * The first secret that contains a key; null when none is set and none is required. A secret that decodes to nothing
 * counts as missing, also where none is required: setting one means that deliveries must be verified.
 */
function usableSecret(
  rule: SignatureRule,
  secrets: readonly (string | null)[],
  missing: () => GatewayError,
): string | null {
  const set = secrets.filter((secret): secret is string => secret !== null && secret !== '');
  const usable = set.find((secret) => holdsKey(rule, secret));
  if (usable === undefined && (rule.is_required || set.length > 0)) throw missing();
  return usable ?? null;
}

function missingWebhookSecret(): GatewayError {
  const message = 'The webhook_secret of the integration contains no key to verify webhooks.';
  return new GatewayError('webhook_missing_secret', { message });
}

function secretOfIntegration(
  key: KeySource,
  credentials: IntegrationCredentials | null,
): string | null {
  if (key === 'webhook_secret') return credentials?.webhookSecret ?? null;
  if (key === 'client_secret') return credentials?.clientSecret ?? null;
  const { appId, privateKey, appLink } = credentials ?? {};
  if (key !== 'app_digest' || appId === undefined || privateKey === undefined) return null;
  return createHash('sha256')
    .update(`${appId}${privateKey}${appLink ?? ''}`)
    .digest('hex');
}

/**
 * The connections whose own secret signed the request.
 * @throws GatewayError when there is none
 */
async function checkedConnections(
  rule: SignatureRule,
  incoming: IncomingRequest,
  context: EvaluationContext,
  { connections, identifier }: Attribution,
): Promise<{ readonly genuine: readonly Connection[]; readonly isVerified: boolean }> {
  const genuine: Connection[] = [];
  let verified = 0;
  let refusal: unknown = null;
  for (const connection of connections) {
    try {
      const metadata = await context.metadata(connection);
      const secrets = rule.keys.map((key) => secretIn(metadata, key, identifier));
      const secret = usableSecret(rule, secrets, () => missingSecret(connection));
      if (secret !== null) {
        verify(rule, incoming, secret, context.now);
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

const missingSecret = ({ connectionId }: Connection): GatewayError =>
  new GatewayError('webhook_missing_secret', {
    message: `The metadata of the connection "${connectionId}" contains no secret for this webhook.`,
  });

function secretIn(metadata: JsonObject, key: KeySource, identifier: string | null): string | null {
  if (typeof key === 'string') return null;
  let value: Json = metadata;
  for (const part of key.metadata) {
    const name = part === '$identifier' ? (identifier ?? '') : part;
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return null;
    value = value[name] ?? null;
  }
  return typeof value === 'string' ? value : null;
}

/** The connections of an event. */
interface Attribution {
  readonly connections: readonly Connection[];
  /** The identifier that found them. */
  readonly identifier: string | null;
  /** The identifier counts as a signature. */
  readonly isToken: boolean;
}

async function connectionsOf(
  part: ReadRequest,
  context: EvaluationContext,
  whole: ReadRequest,
): Promise<Attribution> {
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

function eventsOf({ body }: ReadRequest, { events }: WebhookRules): readonly Json[] {
  if (events === undefined) return [body];
  const list = events.path === undefined ? body : atPath(body, events.path);
  if (Array.isArray(list)) return list as readonly Json[];
  return events.path === undefined ? [body] : [];
}

/**
 * The events that repeat the secret.
 * @throws GatewayError `webhook_invalid_signature` when there is none
 */
function withToken(
  parts: readonly Json[],
  { rules: { event_token: path }, credentials }: EvaluationContext,
): readonly Json[] {
  const secret = credentials?.webhookSecret ?? '';
  if (path === undefined || secret === '' || parts.length === 0) return parts;
  if (isBlank(secret)) throw missingWebhookSecret();
  const genuine = parts.filter((part) => {
    const value = isJsonObject(part) ? atPath(part, path) : undefined;
    return typeof value === 'string' && isEqual(value, secret);
  });
  if (genuine.length === 0) throw invalid('No event contains the secret of the integration.');
  return genuine;
}

/** Whether `withToken` has compared the events with a secret. */
const repeatsSecret = (
  parts: readonly Json[],
  { rules, credentials }: EvaluationContext,
): boolean =>
  rules.event_token !== undefined && (credentials?.webhookSecret ?? '') !== '' && parts.length > 0;

const typeOf = (part: ReadRequest, { type }: WebhookRules): string | null =>
  type === undefined ? null : valueOf(part, type);

function inOrder(events: readonly ProviderEvent[], { order }: WebhookRules): ProviderEvent[] {
  if (order === undefined) return [...events];
  const rank = ({ type }: ProviderEvent): number => (type?.endsWith(order.first) === true ? 0 : 1);
  const time = ({ body }: ProviderEvent): number => Number(atPath(body, order.by) ?? 0);
  return events.toSorted((a, b) => rank(a) - rank(b) || time(a) - time(b));
}
