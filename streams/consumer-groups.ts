import type { TopicName } from './topics.ts';

interface ConsumerGroup {
  readonly topic: TopicName;
  readonly why: string;
  /**
   * The effect of reading messages again; `fixed` is the reason why the group's position can't be moved.
   * `canRepeat`: an operator may have finished work repeated.
   */
  readonly replay:
    { readonly fixed: string } | { readonly effect: string; readonly canRepeat?: true };
  /** Why a message that it parked can't be retried. */
  readonly noRetry?: string;
}

const decidedOnce =
  'The position that counts stands in what the owner has written: the one of the group is only a hint, and what was decided is never decided again.';

/** Every consumer group of the service, besides the projectors. */
export const consumerGroups = {
  'svc.record-owners': {
    topic: 'svc.internal.record-commands.v1',
    why: 'Decide what runs and callers ask of the streams of records.',
    replay: { fixed: decidedOnce },
  },
  'svc.control-owners': {
    topic: 'svc.internal.commands.v1',
    why: 'Decide what is asked of the control plane.',
    replay: { fixed: decidedOnce },
  },
  'svc.runners': {
    topic: 'svc.runs.v1',
    why: 'Start the runs that are queued.',
    replay: {
      effect:
        'A queued run is offered to its owner once more, which refuses one that has started: nothing runs twice.',
    },
  },
  'svc.sync-webhooks': {
    topic: 'svc.runs.v1',
    why: 'Make the webhooks of runs that have ended.',
    replay: { effect: 'Webhooks that are missing are made; those that exist are left alone.' },
  },
  'svc.auth-webhooks': {
    topic: 'svc.credentials.v1',
    why: 'Make the webhooks of connections that were authorized, and of refreshes.',
    replay: { effect: 'Webhooks that are missing are made; those that exist are left alone.' },
  },
  'svc.token-refreshes': {
    topic: 'svc.credentials.v1',
    why: 'Refresh the credentials of connections that nobody fetches.',
    replay: { effect: 'Credentials that have expired are refreshed; those that are fresh stay.' },
  },
  'svc.webhook-deliveries': {
    topic: 'svc.webhooks-out.v1',
    why: 'Deliver webhooks to the application.',
    replay: {
      effect:
        'Webhooks without an outcome are sent; finished ones only when repeating is asked for.',
      canRepeat: true,
    },
  },
  'svc.incoming-webhooks': {
    topic: 'svc.webhooks-in.v1',
    why: 'Judge webhooks of providers whose node ended before it had done so.',
    replay: {
      effect: 'Webhooks without an outcome are judged; others only when repeating is asked for.',
      canRepeat: true,
    },
  },
  'svc.sync-instances': {
    topic: 'svc.connections.v1',
    why: 'Make the syncs of connections that were created.',
    replay: { effect: 'Connections get the syncs that they lack.' },
  },
  'svc.lifecycle-hooks': {
    topic: 'svc.connections.v1',
    why: 'Run the functions on the creation of connections.',
    replay: { effect: 'Functions that have not run run; the others are left alone.' },
  },
  'svc.typed-topics': {
    topic: 'svc.records.v1',
    why: 'Write the topics of the models that are opted in.',
    replay: {
      fixed:
        'Each change is told once: to fill the topic of a model anew, opt the model out and in again.',
    },
    noRetry: 'Later changes stand on the topic already: opt the model out and in again.',
  },
  'svc.command-retries': {
    topic: 'svc.dead-letters.v1',
    why: 'Give owners the commands again that operators want to be retried.',
    replay: { effect: 'Orders that have no outcome yet are passed on once more.' },
  },
} as const satisfies Record<string, ConsumerGroup>;

export type ConsumerGroupName = keyof typeof consumerGroups;

export const isConsumerGroup = (name: string): name is ConsumerGroupName =>
  Object.hasOwn(consumerGroups, name);

/** The group in a uniform shape. */
export const consumerGroup = (name: ConsumerGroupName): ConsumerGroup => consumerGroups[name];
