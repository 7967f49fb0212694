import type { ControlPlane } from '#control-plane/control-plane.ts';
import { uuidV5 } from '#kernel/ids.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { DeployedFunction } from '#modules/functions/functions/function.ts';
import { listFunctions } from '#modules/functions/functions/queries.ts';
import { connectionPathOf, syncRef } from '#modules/functions/syncs/entity.ts';
import type { ProviderEvent } from './evaluate.ts';

/** A run of `onWebhook` that an event starts. */
export interface WantedRun {
  readonly runId: string;
  readonly connection: Connection;
  readonly fn: DeployedFunction;
  readonly payload: Json;
}

/**
 * The runs of the events: of each connection those of the enabled syncs that are not paused and subscribe to the type,
 * or to `*`. Their ids are derived from the delivery's, so that a repetition starts them once.
 */
export function runsOf(
  control: ControlPlane,
  scope: { readonly environmentUid: string; readonly integrationKey: string },
  originId: string,
  events: readonly ProviderEvent[],
): WantedRun[] {
  const { environmentUid, integrationKey } = scope;
  const { view } = control;
  const syncs = listFunctions(control, environmentUid, { integrationKey, kind: 'sync' });
  const subscribed = syncs.filter((fn) => fn.isEnabled && fn.webhookSubscriptions.length > 0);
  return events.flatMap(({ type, body, connections }, number) =>
    connections.flatMap((connection) =>
      subscribed
        .filter((fn) => subscribes(fn, type) && !isPaused(view, connection, fn.name))
        .map((fn) => {
          const runId = uuidV5(originId, `${connection.uid}/${fn.name}/${number}`);
          return { runId, connection, fn, payload: body };
        }),
    ),
  );
}

const subscribes = (
  { webhookSubscriptions: subscriptions }: DeployedFunction,
  type: string | null,
): boolean => subscriptions.includes('*') || (type !== null && subscriptions.includes(type));

function isPaused(view: ControlPlane['view'], connection: Connection, name: string): boolean {
  return view.find(syncRef(connectionPathOf(connection), name, 'base'))?.state === 'paused';
}
