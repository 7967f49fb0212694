import { joinKey } from '../kernel/ids.ts';
import type { DecisionMeta, PublicMessage } from './entity.ts';

/**
 * What `svc.config.v1` publishes about a change (docs/reference/topics.md#svcconfigv1); a tombstone follows a
 * deletion. `revision` is the time of the decision, which grows with each decision on an entity.
 */
export function configMessages(
  change: {
    readonly kind: string;
    readonly id: readonly string[];
    readonly environmentUid: string;
    readonly integration?: string;
    readonly action: string;
    /** Without secrets. */
    readonly document: Readonly<Record<string, unknown>>;
    readonly isGone: boolean;
  },
  meta: DecisionMeta,
): PublicMessage[] {
  const { kind, action, environmentUid, integration } = change;
  const base = {
    topic: 'svc.config.v1',
    key: joinKey(kind, ...change.id),
    type: `svc.${kind}.${action}`,
    environmentUid,
    ...(integration === undefined ? {} : { integration }),
  };
  const document = JSON.stringify(change.document);
  const fields = { ...base, value: { kind, action, document, revision: meta.at } };
  return change.isGone ? [fields, { ...base, value: null }] : [fields];
}
