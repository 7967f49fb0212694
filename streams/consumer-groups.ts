import type { TopicName } from './topics.ts';

interface ConsumerGroup {
  readonly topic: TopicName;
  readonly why: string;
  /**
   * The effect of reading messages again; `fixed` is the reason why the group's position can't be moved.
   * `canRepeat`: an operator may have finished work repeated.
   */
  readonly replay:
    | { readonly fixed: string }
    | { readonly effect: string; readonly canRepeat?: true };
  /** Why a message that it parked can't be retried. */
  readonly noRetry?: string;
}

const decidedOnce =
  'The note of the owner holds the authoritative position; that of the group is only a hint, and a decided command is never decided again.';

/** Every consumer group of the service, besides the projectors. */
export const consumerGroups = {
  'svc.record-owners': {
    topic: 'svc.internal.record-commands.v1',
    why: 'Decide the commands of runs and callers to the streams of records.',
    replay: { fixed: decidedOnce },
  },
  'svc.control-owners': {
    topic: 'svc.internal.commands.v1',
    why: 'Decide the commands to the control plane.',
    replay: { fixed: decidedOnce },
  },
  'svc.runners': {
    topic: 'svc.runs.v1',
    why: 'Start the runs that are queued.',
    replay: {
      effect:
        'A queued run is offered to its owner again, which refuses a started one: nothing runs twice.',
    },
  },
  'svc.sync-webhooks': {
    topic: 'svc.runs.v1',
    why: 'Create the webhooks of ended runs.',
    replay: { effect: 'Missing webhooks are created; existing ones stay unchanged.' },
  },
  'svc.auth-webhooks': {
    topic: 'svc.credentials.v1',
    why: 'Create the webhooks of authorized connections, and of refreshes.',
    replay: { effect: 'Missing webhooks are created; existing ones stay unchanged.' },
  },
  'svc.token-refreshes': {
    topic: 'svc.credentials.v1',
    why: 'Refresh the credentials of unused connections.',
    replay: { effect: 'Credentials that have expired are refreshed; those that are fresh stay.' },
  },
  'svc.webhook-deliveries': {
    topic: 'svc.webhooks-out.v1',
    why: 'Deliver webhooks to the application.',
    replay: {
      effect:
        'Webhooks without an outcome are sent; finished ones only if a repetition is requested.',
      canRepeat: true,
    },
  },
  'svc.incoming-webhooks': {
    topic: 'svc.webhooks-in.v1',
    why: 'Evaluate webhooks of providers whose node ended before the evaluation.',
    replay: {
      effect:
        'Webhooks without an outcome are evaluated; others only if a repetition is requested.',
      canRepeat: true,
    },
  },
  'svc.sync-instances': {
    topic: 'svc.connections.v1',
    why: 'Create the syncs of new connections.',
    replay: { effect: 'Connections get the syncs that they lack.' },
  },
  'svc.lifecycle-hooks': {
    topic: 'svc.connections.v1',
    why: 'Run the functions on the creation of connections.',
    replay: { effect: 'Functions that have not run are run; others are skipped.' },
  },
  'svc.typed-topics': {
    topic: 'svc.records.v1',
    why: 'Write the topics of the models that are opted in.',
    replay: {
      fixed:
        'Each change is written once: to refill the topic of a model, opt the model out and in again.',
    },
    noRetry: 'Later changes are on the topic already: opt the model out and in again.',
  },
  'svc.command-retries': {
    topic: 'svc.dead-letters.v1',
    why: 'Return commands to owners that operators want retried.',
    replay: { effect: 'Requests without an outcome are passed on again.' },
  },
} as const satisfies Record<string, ConsumerGroup>;

export type ConsumerGroupName = keyof typeof consumerGroups;

export const isConsumerGroup = (name: string): name is ConsumerGroupName =>
  Object.hasOwn(consumerGroups, name);

/** The group in a uniform shape. */
export const consumerGroup = (name: ConsumerGroupName): ConsumerGroup => consumerGroups[name];
