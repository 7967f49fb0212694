import { randomUUID } from 'node:crypto';
import {
  findCaughtUp,
  type ControlPlane,
  type ExecuteOptions,
} from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { sealingContext, type Vault } from '#modules/access/vault/vault.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { ChangeFilter, MessagePlace } from '../fields.ts';
import { startOf, type FeedPosition, type FeedStart } from '../position.ts';
import type { FeedServices } from '../read-changes.ts';
import { readCursor } from './cursor.ts';
import { subscriptionEntity, subscriptionRef, type SubscriptionEntity } from './entity.ts';
import { parkedText } from './parked.ts';
import type { Subscription, WebhookTarget } from './subscription.ts';

export interface SubscriptionDeps extends SealedEntities {
  readonly log: EventLog;
}

/** An address with what it wants. */
export type WantedTarget = Omit<WebhookTarget, 'url' | 'shownUrl'> & { readonly url: string };

const contextOf = (environmentUid: string, name: string): string =>
  sealingContext(environmentUid, name, 'subscription_target');

/** The address in plain text. @throws GatewayError `not_found` when the key was destroyed */
export async function openAddress(
  vault: Vault,
  { environmentUid, name }: SubscriptionIdentity,
  { url }: WebhookTarget,
): Promise<string> {
  await vault.ready(environmentUid);
  return vault.open(environmentUid, url, contextOf(environmentUid, name));
}

async function sealedTarget(
  vault: Vault,
  { environmentUid, name }: SubscriptionIdentity,
  { url, ...wanted }: WantedTarget,
): Promise<WebhookTarget> {
  await vault.ready(environmentUid);
  const sealed = vault.seal(environmentUid, url, contextOf(environmentUid, name));
  return { ...wanted, url: sealed, shownUrl: `${new URL(url).origin}/…` };
}

/** A subscription in the environment of the caller. */
export interface SubscriptionIdentity {
  readonly environmentUid: string;
  readonly name: string;
}

/** Of the environment, by name. */
export const listSubscriptions = (
  { view }: Pick<ControlPlane, 'view'>,
  environmentUid: string,
): Subscription[] => view.list(subscriptionEntity, [environmentUid]).map(({ state }) => state);

/** @throws GatewayError `not_found` */
export async function requireSubscription(
  { view }: Pick<ControlPlane, 'view'>,
  { environmentUid, name }: SubscriptionIdentity,
): Promise<Subscription> {
  const found = await findCaughtUp(view, () => view.find(subscriptionRef(environmentUid, name)));
  if (found !== null) return found;
  const message = `The environment has no subscription "${name}". Create it with PUT /subscriptions/${name}.`;
  throw new GatewayError('not_found', { message });
}

/**
 * Creates a subscription; one with the same filter stays as it is, with the target of the request.
 * @throws GatewayError `conflict`: it has another filter; `resource_capped`, `log_unavailable`
 */
export async function createSubscription(
  { control, vault, log }: SubscriptionDeps,
  identity: SubscriptionIdentity,
  {
    filter,
    from,
    target,
  }: {
    readonly filter: ChangeFilter;
    readonly from: FeedStart;
    readonly target?: WantedTarget | undefined;
  },
  options: ExecuteOptions,
): Promise<Subscription> {
  const { environmentUid, name } = identity;
  const { offsets } = await startOf(log, from);
  const body: CommandOf<SubscriptionEntity> = {
    type: 'Create',
    uid: randomUUID(),
    environmentUid,
    name,
    filter,
    ...(target === undefined ? {} : { target: await sealedTarget(vault, identity, target) }),
    offsets,
  };
  const requestHash = vault.fingerprint('request', JSON.stringify({ name, filter, from, target }));
  const ref = subscriptionRef(environmentUid, name);
  return made(await control.execute(ref, body, { requestHash, ...options }));
}

/** Where its reader goes on. @throws GatewayError `log_unavailable` */
export async function committedPosition(
  log: EventLog,
  { offsets, epochs }: Subscription,
): Promise<FeedPosition> {
  const whole = offsets.map((_, partition) => epochs[partition] ?? 0);
  return { log: await log.identity(), offsets, epochs: whole };
}

/**
 * What is before the cursor is processed.
 * @throws GatewayError `invalid_cursor_value`; `conflict`: it was moved since; `not_found`
 */
export async function commitPosition(
  { control, log }: Omit<SubscriptionDeps, 'vault'>,
  identity: SubscriptionIdentity,
  cursor: string,
  options: ExecuteOptions,
): Promise<Subscription> {
  const state = await requireSubscription(control, identity);
  const { position, moves } = await readCursor(log, state, cursor);
  const { offsets, epochs } = position;
  const requestHash = cursor;
  const ref = subscriptionRef(identity.environmentUid, identity.name);
  const body: CommandOf<SubscriptionEntity> = { type: 'Commit', offsets, epochs, moves };
  return made(await control.execute(ref, body, { requestHash, ...options }));
}

/** Moves the position, back or forward. @throws GatewayError `not_found`, `log_unavailable` */
export async function moveSubscription(
  { control, log }: SubscriptionDeps,
  identity: SubscriptionIdentity,
  from: FeedStart,
  options: ExecuteOptions,
): Promise<Subscription> {
  await requireSubscription(control, identity);
  const { offsets } = await startOf(log, from);
  const requestHash = JSON.stringify(from);
  const ref = subscriptionRef(identity.environmentUid, identity.name);
  return made(await control.execute(ref, { type: 'Move', offsets }, { requestHash, ...options }));
}

/** @throws GatewayError `not_found` (the subscription), `invalid_body` (the place), `resource_capped` */
export async function parkChange(
  services: FeedServices,
  identity: SubscriptionIdentity,
  { place, reason }: { readonly place: MessagePlace; readonly reason: string },
  options: ExecuteOptions,
): Promise<Subscription> {
  const { control } = services;
  const state = await requireSubscription(control, identity);
  if ((await parkedText(services, state, place)) === null) {
    const message =
      'The subscription has no change at this place. Send `place` of a change that was read of it.';
    throw new GatewayError('invalid_body', {
      message,
      errors: [{ code: 'custom', message, path: ['place'] }],
    });
  }
  const requestHash = JSON.stringify({ place, reason });
  const ref = subscriptionRef(identity.environmentUid, identity.name);
  return made(
    await control.execute(ref, { type: 'Park', place, reason }, { requestHash, ...options }),
  );
}

/** @throws GatewayError `not_found`: the subscription, or the parked change */
export async function releaseChange(
  { control }: Pick<SubscriptionDeps, 'control'>,
  identity: SubscriptionIdentity,
  place: MessagePlace,
  options: ExecuteOptions,
): Promise<void> {
  await requireSubscription(control, identity);
  const ref = subscriptionRef(identity.environmentUid, identity.name);
  await control.execute(ref, { type: 'Release', place }, options);
}

/** @throws GatewayError `not_found`: the subscription, or the parked change; `conflict`: it has no target */
export async function replayChange(
  { control }: Pick<SubscriptionDeps, 'control'>,
  identity: SubscriptionIdentity,
  place: MessagePlace,
  options: ExecuteOptions,
): Promise<Subscription> {
  await requireSubscription(control, identity);
  const ref = subscriptionRef(identity.environmentUid, identity.name);
  return made(await control.execute(ref, { type: 'Replay', place }, options));
}

/** @throws GatewayError `not_found`; `conflict`: it is that of a function */
export async function deleteSubscription(
  { control }: Pick<SubscriptionDeps, 'control'>,
  identity: SubscriptionIdentity,
  options: ExecuteOptions,
): Promise<void> {
  const { target } = await requireSubscription(control, identity);
  if (target?.type === 'function') {
    const message = `The subscription "${identity.name}" belongs to the on-change function "${target.name}": it is deleted with it.`;
    throw new GatewayError('conflict', { message });
  }
  const ref = subscriptionRef(identity.environmentUid, identity.name);
  await control.execute(ref, { type: 'Delete' }, options);
}

function made(state: Subscription | null): Subscription {
  if (state === null) throw new GatewayError('server_error');
  return state;
}
