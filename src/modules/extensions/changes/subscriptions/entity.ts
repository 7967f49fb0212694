import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import {
  subscription,
  type CreateSubscription,
  type Subscription,
  type SubscriptionCommand,
  type SubscriptionEvent,
  type SubscriptionTarget,
} from './subscription.ts';

export interface SubscriptionEntity {
  readonly kind: 'subscription';
  readonly state: Subscription;
  readonly command: SubscriptionCommand;
  readonly event: SubscriptionEvent;
  readonly topic: 'svc.config.v1';
  readonly facts: Pick<CreateSubscription, 'siblings'>;
}

export const subscriptionRef = (
  environmentUid: string,
  name: string,
): EntityRef<SubscriptionEntity> => ({
  kind: 'subscription',
  scope: environmentUid,
  path: [environmentUid, name],
});

const actions = {
  SubscriptionCreated: 'created',
  SubscriptionMoved: 'updated',
  SubscriptionRetargeted: 'updated',
  SubscriptionDeleted: 'deleted',
} as const;

/** Without the address, which may have a token. */
function publicTarget(target: SubscriptionTarget): object {
  if (target.type === 'function') return target;
  const { url: _, shownUrl, ...shown } = target;
  return { ...shown, url: shownUrl };
}

const publishSettings = publishConfig(
  'subscription',
  actions,
  ({ environmentUid, name, filter, target }: Subscription) => ({
    id: [environmentUid, name],
    environmentUid,
    document: {
      name,
      ...filter,
      ...(target === undefined ? {} : { target: publicTarget(target) }),
    },
  }),
);

export const subscriptionEntity: EntityDefinition<SubscriptionEntity> = {
  kind: 'subscription',
  decider: subscription,

  facts(command, ref, siblings) {
    if (command.type !== 'Create') return {};
    return { siblings: siblings.list(ref, ref.path.slice(0, 1)).length };
  },

  publishes: { 'svc.config.v1': true },
  // Progress is in the position alone: a commit for each batch would drown what was set.
  publish: (event, ...rest) => (event.type in actions ? publishSettings(event, ...rest) : []),
};
