import { atPath } from '#kernel/json-path.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { IntegrationCredentials } from '#modules/connections/integrations/integration.ts';
import type { HandshakeRule, WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import type { AttributedEvent } from './attribute.ts';
import { answerOf, emptyAnswer, type ChallengeAnswer } from './challenge.ts';
import { holds, valueAt, valueOf, type WebhookFacts } from './facts.ts';
import type { VerifiedRequest } from './verify.ts';

/** One event of a delivery. */
export interface ProviderEvent {
  readonly type: string | null;
  readonly body: Json;
  readonly connections: readonly Connection[];
}

/** A verified webhook: its events and their connections. */
export interface Verdict {
  /** The response to a handshake of the provider; null = the default. */
  readonly answer: ChallengeAnswer | null;
  readonly body: Json;
  readonly type: string | null;
  readonly providerDeliveryId: string | null;
  /** The connections of an event. */
  readonly connections: readonly Connection[];
  readonly events: readonly ProviderEvent[];
  /** Whether its connections are as the rules demand: without a rule of connections it needs none. */
  readonly isMatched: boolean;
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

/** The rules of the provider, and the secrets with which a handshake is answered. */
interface VerdictContext {
  readonly rules: WebhookRules;
  readonly credentials: IntegrationCredentials | null;
}

/**
 * The verdict on a verified request and its attributed events. Pure.
 * @throws GatewayError the refusal of a handshake
 */
export function verdictOf(
  verified: Pick<VerifiedRequest, 'facts' | 'isPartial' | 'isUnsigned' | 'isVerified'>,
  attributed: readonly AttributedEvent[],
  { rules, credentials }: VerdictContext,
): Verdict {
  const { isPartial, isUnsigned } = verified;
  const facts = isPartial ? withEvents(verified.facts, attributed, rules) : verified.facts;
  const handshake = rules.handshakes.find(({ when }) => holds(facts, when));
  const isHandshake = handshake !== undefined && handshake.answer !== null;
  const events = handledEvents(facts, attributed, rules);
  const connections = new Map(
    attributed.flatMap((event) => event.connections.map((one) => [one.uid, one] as const)),
  );
  const isVerifiedByConnections =
    attributed.length > 0 && attributed.every(({ isVerified }) => isVerified);
  return {
    answer: handshake === undefined ? null : answerTo(facts, handshake, credentials),
    body: facts.body,
    type: events[0]?.type ?? typeOf(facts, rules),
    providerDeliveryId: rules.delivery_id === undefined ? null : valueOf(facts, rules.delivery_id),
    connections: [...connections.values()],
    events: isHandshake ? [] : events,
    isMatched: connections.size > 0 || rules.connection === undefined,
    // An unsigned webhook is forwarded unchanged: it starts no function and belongs to no connection.
    isForwarded: !isHandshake && (isUnsigned || attributed.length > 0),
    installation: installationIn(facts, rules),
    isVerified: verified.isVerified || isVerifiedByConnections,
  };
}

/** The facts with only these events in the body. */
function withEvents(
  facts: WebhookFacts,
  attributed: readonly AttributedEvent[],
  { events: rule }: WebhookRules,
): WebhookFacts {
  const bodies = attributed.map(({ body }) => body);
  if (rule?.path === undefined || !isJsonObject(facts.body)) return { ...facts, body: bodies };
  return { ...facts, body: { ...facts.body, [rule.path]: bodies } };
}

function answerTo(
  facts: WebhookFacts,
  handshake: HandshakeRule,
  credentials: IntegrationCredentials | null,
): ChallengeAnswer {
  const { answer } = handshake;
  return answer === null
    ? emptyAnswer
    : answerOf(handshake, valueAt(facts, answer) ?? '', credentials);
}

/** Those that the rules do not skip, in the order of the rules. */
function handledEvents(
  facts: WebhookFacts,
  attributed: readonly AttributedEvent[],
  rules: WebhookRules,
): ProviderEvent[] {
  const events = attributed.flatMap(({ body, connections }) => {
    const part = { ...facts, body };
    const isSkipped = rules.skip.some((condition) => holds(part, condition));
    return isSkipped ? [] : [{ type: typeOf(part, rules), body, connections }];
  });
  return inOrder(events, rules);
}

function installationIn(facts: WebhookFacts, { installation }: WebhookRules): Installation | null {
  if (installation?.when.every((condition) => holds(facts, condition)) !== true) return null;
  const handle = valueOf(facts, installation.handle);
  return handle === null ? null : { handle, id: valueOf(facts, installation.id) };
}

const typeOf = (facts: WebhookFacts, { type }: WebhookRules): string | null =>
  type === undefined ? null : valueOf(facts, type);

function inOrder(events: readonly ProviderEvent[], { order }: WebhookRules): ProviderEvent[] {
  if (order === undefined) return [...events];
  const rank = ({ type }: ProviderEvent): number => (type?.endsWith(order.first) === true ? 0 : 1);
  const time = ({ body }: ProviderEvent): number => Number(atPath(body, order.by) ?? 0);
  return events.toSorted((a, b) => rank(a) - rank(b) || time(a) - time(b));
}
