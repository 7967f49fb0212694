import { firstMessage } from '#control-plane/consume.ts';
import { type ControlPlane, findCaughtUp } from '#control-plane/control-plane.ts';
import type { PublicMessage } from '#control-plane/entity.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { readableValue } from '#control-plane/topic-view.ts';
import { dayMs, type Clock } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { Position } from '#ports/event-log.ts';
import type { ReactorDeps, ReactorOptions } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import { topics } from '#streams/topics.ts';
import { deliveriesTopic } from './deliveries.ts';
import { isFirstStep, type WebhookOut } from './events.ts';

const rememberedMs = topics[deliveriesTopic].cleanup.retentionMs - dayMs;
/** Maximum clock skew between two nodes. */
const skewMs = 300_000;

/** Names of webhooks, by message and endpoint. */
type Names = ReadonlySet<string>;
const noNames: Names = new Set();
const nameOf = (ref: Pick<WebhookOut, 'message_id' | 'endpoint_id'>): string =>
  `${ref.message_id}/${ref.endpoint_id}`;

/** False for events so old that the log no longer contains their webhooks. */
const isRemembered = (at: number, now: number): boolean => now - at <= rememberedMs;

/**
 * The webhooks created since the event at the position, so that a replay creates only the missing ones. The topic and
 * the webhooks of a connection are on partitions of the same number.
 */
async function existingDeliveries(
  { log, schemas }: LogPorts,
  from: Position,
  signal: AbortSignal,
): Promise<Names> {
  const codec = await schemas.codec<WebhookOut>(deliveriesTopic);
  const since = await firstMessage(log, from, { signal });
  const names = new Set<string>();
  if (since === null) return names;
  const { partition } = from;
  const offset = await log.offsetAt(deliveriesTopic, partition, since.timestamp - skewMs);
  for await (const batch of log.read({ topic: deliveriesTopic, partition, offset }, { signal })) {
    for (const { value } of batch.messages) {
      const step = readableValue(codec, value);
      if (step !== null && isFirstStep(step)) names.add(nameOf(step));
    }
  }
  return names;
}

/** The deliveries that do not exist yet. The values are steps, because `deliveriesOf` creates nothing else. */
const missingOf = (messages: readonly PublicMessage[], names: Names): PublicMessage[] =>
  messages.filter(({ value }) => !names.has(nameOf(value as unknown as WebhookOut)));

export interface WebhookSourceDeps extends ReactorDeps {
  readonly control: ControlPlane;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly publisher: Publisher;
}

interface WebhookSource<Value> extends Pick<
  ReactorOptions<Value>,
  'group' | 'topic' | 'inFlightMax'
> {
  /** Maximum age of an event outside a replay: a new group on an old log sends nothing for older ones. */
  readonly maxAgeMs?: number;
  /** The webhooks of an event, and the actor that publishes them. */
  readonly webhooksOf: (
    value: Value,
    signal: AbortSignal,
  ) => Promise<{ readonly messages: readonly PublicMessage[]; readonly actor: string } | null>;
}

/**
 * Starts the reactor that creates webhooks for the events of a topic. The ids of webhooks are derived from the event,
 * so that a repetition is detected.
 */
export async function startWebhookSource<Value>(
  deps: WebhookSourceDeps,
  { maxAgeMs = Infinity, webhooksOf, ...options }: WebhookSource<Value>,
): Promise<AsyncDisposable> {
  const { topic } = options;
  const made = new Map<number, Names>();
  return startReactor<Value>(deps, {
    ...options,
    async prepare(partition, offset, signal, replay) {
      if (replay === null) made.delete(partition);
      else
        made.set(partition, await existingDeliveries(deps, { topic, partition, offset }, signal));
    },
    async handle(value, { partition, message: { timestamp }, replay }, signal) {
      const now = deps.clock.now();
      if (replay === null ? now - timestamp > maxAgeMs : !isRemembered(timestamp, now)) return;
      const webhooks = await webhooksOf(value, signal);
      if (webhooks === null) return;
      const existing = replay === null ? noNames : (made.get(partition) ?? noNames);
      const missing = missingOf(webhooks.messages, existing);
      if (missing.length > 0) await deps.publisher.publish(missing, webhooks.actor);
    },
  });
}

/** Null after the connection was deleted, or created again under the same id: the webhook is obsolete. */
export async function subjectOf(
  { control }: { readonly control: ControlPlane },
  event: {
    readonly environment_id: string;
    readonly integration: string | null;
    readonly connection_id: string | null;
    readonly connection_uid: string | null;
  },
): Promise<{ readonly environment: Environment; readonly connection: Connection } | null> {
  const { environment_id: uid, integration, connection_id } = event;
  const environment = await findCaughtUp(control.view, () =>
    control.view.find(environmentRef(uid)),
  );
  const connection = await findCaughtUp(control.view, () => {
    const found = findConnection(control, uid, integration ?? '', connection_id ?? '');
    return found?.uid === event.connection_uid ? found : null;
  });
  return environment === null || connection === null ? null : { environment, connection };
}
