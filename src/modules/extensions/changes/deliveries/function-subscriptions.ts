import { randomUUID } from 'node:crypto';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { commandTo, type CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { IntegrationDependents } from '#modules/connections/integrations/dependents.ts';
import { functionEntity } from '#modules/functions/functions/entity.ts';
import {
  changeSubscriptionOf,
  type DeployedFunction,
} from '#modules/functions/functions/function.ts';
import { listFunctions } from '#modules/functions/functions/queries.ts';
import type { EventLog } from '#ports/event-log.ts';
import { startOf } from '../position.ts';
import {
  subscriptionEntity,
  subscriptionRef,
  type SubscriptionEntity,
} from '../subscriptions/entity.ts';
import type { Subscription } from '../subscriptions/subscription.ts';

const options = { actor: 'system' };

/**
 * Gives each on-change function its subscription, and deletes those of functions that are gone. A function that is
 * deployed again keeps its position. Idempotent.
 * @throws GatewayError `log_unavailable`
 */
export async function reconcileFunctionSubscriptions(deps: {
  readonly control: ControlPlane;
  readonly log: EventLog;
}): Promise<void> {
  const { control } = deps;
  const functions = control.view
    .list(functionEntity, [])
    .flatMap(({ state }) => (state.kind === 'on-change' ? [state] : []));
  for (const fn of functions) await follow(deps, fn);
  const keys = new Set(functions.map((fn) => keyOf(fn.environmentUid, fn)));
  for (const { ref, state } of control.view.list(subscriptionEntity, [])) {
    if (state.target?.type !== 'function') continue;
    if (keys.has(keyOf(state.environmentUid, state.target))) continue;
    await control.execute(ref, { type: 'Delete' }, options);
  }
}

const keyOf = (
  environmentUid: string,
  fn: Pick<DeployedFunction, 'integrationKey' | 'name'>,
): string => `${environmentUid}/${changeSubscriptionOf(fn)}`;

async function follow(
  { control, log }: { readonly control: ControlPlane; readonly log: EventLog },
  fn: DeployedFunction,
): Promise<void> {
  const { environmentUid, integrationKey, name, models, delivery, deployedAt } = fn;
  const ref = subscriptionRef(environmentUid, changeSubscriptionOf(fn));
  const existing = control.view.find(ref);
  const settings: Required<Pick<Subscription, 'filter' | 'target'>> = {
    filter: { provider_config_key: integrationKey, models },
    target: { type: 'function', integrationKey, name },
  };
  if (existing !== null) {
    if (existing.filter.models?.join() === models.join()) return;
    await control.execute(ref, { type: 'Retarget', ...settings }, options);
    return;
  }
  // From its deployment on, however much later this is.
  const from = delivery?.from === 'start' ? 'start' : { since: deployedAt };
  const { offsets } = await startOf(log, from);
  const body: CommandOf<SubscriptionEntity> = {
    type: 'Create',
    uid: randomUUID(),
    environmentUid,
    name: changeSubscriptionOf(fn),
    ...settings,
    offsets,
  };
  await control.execute(ref, body, options);
}

/** Its position is that of changes under the key of its integration. */
export const functionSubscriptionsOf = (control: ControlPlane): IntegrationDependents => ({
  refuseMove({ environmentUid, uniqueKey: integrationKey }) {
    const [first] = listFunctions(control, environmentUid, { integrationKey, kind: 'on-change' });
    if (first === undefined) return;
    const message = `An integration with on-change functions keeps its unique key: remove "${first.name}" first.`;
    throw new GatewayError('invalid_body', {
      message,
      errors: [{ code: 'custom', message, path: ['unique_key'] }],
    });
  },
  moves: () => [],
  removals: ({ environmentUid, uniqueKey }) =>
    control.view
      .list(subscriptionEntity, [environmentUid])
      .filter(
        ({ state: { target } }) =>
          target?.type === 'function' && target.integrationKey === uniqueKey,
      )
      .map(({ ref }) => commandTo(ref, { type: 'Delete' })),
});
