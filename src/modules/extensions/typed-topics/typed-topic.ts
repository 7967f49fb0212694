import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';

/** Scope = environment uid; path [environment uid, integration key, model]. */
export interface TypedTopic {
  /** Id of this opt-in: an opt-in after an opt-out has a new one and refills the topic. */
  readonly uid: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly model: string;
  /** The topic's name without its major version, such as `svc.cdc.dev.crm.contact`. Never changes. */
  readonly address: string;
  /** The newest major version; 0 until the reactor has created the first. */
  readonly major: number;
  readonly enabledAt: Instant;
  /**
   * From then on only erasures are published, until the retention has deleted the messages of the topic; null = in use.
   */
  readonly endedAt: Instant | null;
  /** Whether updates have the row as it was; absent = not. */
  readonly hasBefore?: true;
  /** Whether messages have nanoseconds, which readers in JavaScript refuse by default; absent = not. */
  readonly hasNanoseconds?: true;
  /** Whether keys are a structure for Kafka Connect; absent = text. Never changes while the topic has messages. */
  readonly hasStructKey?: true;
  /** Name of the last snapshot that was requested; absent = only the filling of the opt-in. */
  readonly snapshot?: string;
  /** Seconds between heartbeats; absent = none. */
  readonly heartbeatS?: number;
}

/** The format that an opt-in chooses. */
export type TypedTopicFormat = Pick<TypedTopic, 'hasBefore' | 'hasNanoseconds' | 'hasStructKey'>;

export type TypedTopicEvent =
  | { readonly type: 'TypedTopicEnabled'; readonly typedTopic: TypedTopic }
  | { readonly type: 'TypedTopicOpened'; readonly major: number }
  | { readonly type: 'TypedTopicSnapshotRequested'; readonly snapshot: string }
  /** 0: no more of them. */
  | { readonly type: 'TypedTopicHeartbeatChanged'; readonly heartbeatS: number }
  | { readonly type: 'TypedTopicEnded'; readonly at: Instant }
  /** The retention has deleted the messages of the topic. */
  | { readonly type: 'TypedTopicForgotten' };

/** Facts that the owner adds: `at`, the integration, and other typed topics. */
export type EnableTypedTopic = {
  readonly type: 'Enable';
  readonly at: Instant;
  readonly isIntegrationKnown: boolean;
  /** Another model of the environment whose topic has the same name; null = none. */
  readonly sameAddress: string | null;
} & Pick<TypedTopic, 'uid' | 'environmentUid' | 'integrationKey' | 'model' | 'address'> &
  TypedTopicFormat & {
    /** Requests a snapshot, unless the last one has this name. */
    readonly snapshot?: string;
    /** 0: none; absent: as it is. */
    readonly heartbeatS?: number;
  };

export type TypedTopicCommand =
  | EnableTypedTopic
  | { readonly type: 'Opened'; readonly major: number; readonly at: Instant }
  | { readonly type: 'End'; readonly at: Instant }
  | { readonly type: 'Tick'; readonly at: Instant };

export const typedTopic: Decider<TypedTopic | null, TypedTopicCommand, TypedTopicEvent> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Enable':
        return enabled(command, state);
      case 'Opened':
        if (state === null || command.major <= state.major) return [];
        return [{ type: 'TypedTopicOpened', major: command.major }];
      case 'End':
        if (state === null || state.endedAt !== null) throw notFound();
        return [{ type: 'TypedTopicEnded', at: command.at }];
      case 'Tick': {
        const due = state === null ? null : forgottenAt(state);
        return due === null || due > command.at ? [] : [{ type: 'TypedTopicForgotten' }];
      }
    }
  },

  evolve(state, event) {
    if (event.type === 'TypedTopicEnabled') return event.typedTopic;
    if (state === null || event.type === 'TypedTopicForgotten') return null;
    if (event.type === 'TypedTopicOpened') return { ...state, major: event.major };
    if (event.type === 'TypedTopicSnapshotRequested') return { ...state, snapshot: event.snapshot };
    if (event.type === 'TypedTopicHeartbeatChanged') {
      const { heartbeatS: _, ...rest } = state;
      return { ...rest, ...heartbeatOf(event) };
    }
    return { ...state, endedAt: event.at };
  },
};

/** Time after which the topic contains no record that an erasure must delete; null = in use. */
export function forgottenAt({ endedAt }: TypedTopic): Instant | null {
  return endedAt === null ? null : endedAt + limits.typedTopicKeptMs;
}

function enabled(command: EnableTypedTopic, state: TypedTopic | null): TypedTopicEvent[] {
  if (state !== null) refuseOtherFormat(command, state);
  if (state !== null && state.endedAt === null) {
    return [...snapshotRequested(command, state), ...heartbeatChanged(command, state)];
  }
  const { uid, environmentUid, integrationKey, model, address, at } = command;
  if (!command.isIntegrationKnown) throw notFound();
  if (command.sameAddress !== null) {
    const message = `The model "${command.sameAddress}" already has the topic ${address}: names must differ by more than case and punctuation.`;
    throw new GatewayError('conflict', { message });
  }
  const typedTopic: TypedTopic = {
    uid,
    environmentUid,
    integrationKey,
    model,
    address,
    major: state?.major ?? 0,
    enabledAt: at,
    endedAt: null,
    ...formatOf(command),
    ...(command.snapshot !== undefined && { snapshot: command.snapshot }),
    ...heartbeatOf(command),
  };
  return [{ type: 'TypedTopicEnabled', typedTopic }];
}

const snapshotRequested = ({ snapshot }: EnableTypedTopic, state: TypedTopic): TypedTopicEvent[] =>
  snapshot === undefined || snapshot === state.snapshot
    ? []
    : [{ type: 'TypedTopicSnapshotRequested', snapshot }];

const heartbeatChanged = ({ heartbeatS }: EnableTypedTopic, state: TypedTopic): TypedTopicEvent[] =>
  heartbeatS === undefined || heartbeatS === (state.heartbeatS ?? 0)
    ? []
    : [{ type: 'TypedTopicHeartbeatChanged', heartbeatS }];

const heartbeatOf = ({ heartbeatS = 0 }: { heartbeatS?: number }): Pick<TypedTopic, 'heartbeatS'> =>
  heartbeatS === 0 ? {} : { heartbeatS };

const formatOf = ({
  hasBefore,
  hasNanoseconds,
  hasStructKey,
}: TypedTopicFormat): TypedTopicFormat => ({
  ...(hasBefore && { hasBefore }),
  ...(hasNanoseconds && { hasNanoseconds }),
  ...(hasStructKey && { hasStructKey }),
});

/** Readers of one topic see one format: keys of another would never replace those before. */
function refuseOtherFormat(command: EnableTypedTopic, state: TypedTopic): void {
  if (state.hasStructKey !== command.hasStructKey) {
    const message = `The topic ${state.address} has messages whose keys are ${state.hasStructKey ? 'structures' : 'text'}: keep them, or opt in after they have expired.`;
    throw new GatewayError('conflict', { message });
  }
  if (state.endedAt !== null) return;
  const { hasBefore, hasNanoseconds } = state;
  if (hasBefore === command.hasBefore && hasNanoseconds === command.hasNanoseconds) return;
  const message = `The topic ${state.address} is written ${hasBefore ? 'with' : 'without'} old rows and ${hasNanoseconds ? 'with' : 'without'} nanoseconds: delete the typed topic first, then opt in again.`;
  throw new GatewayError('conflict', { message });
}

const notFound = (): GatewayError =>
  new GatewayError('not_found', { message: 'The model has no typed topic.' });
