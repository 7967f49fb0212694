import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Instant } from '#kernel/time.ts';
import type {
  Generation,
  PartitionProgress,
  Projection,
  VerifiedPart,
} from '#streams/projector/projection-state.ts';
import { untouched, verificationState } from '#streams/projector/projection-state.ts';
import type { ProjectionEvent } from './events.ts';

/** `name` is the projection's. Reports of projectors may arrive late or twice. */
export type ProjectionCommand = { readonly name: string; readonly at: Instant } & (
  | {
      readonly type: 'Rebuild';
      /** Version of the tables of this release. */
      readonly schemaVersion: number;
      readonly partitions: number;
      readonly pacePercent: number;
    }
  /** Builds the first generation of a new projection, which is read meanwhile. */
  | {
      readonly type: 'Begin';
      readonly schemaVersion: number;
      readonly partitions: number;
      readonly pacePercent: number;
    }
  /**
   * Builds the next generation and switches to it once it has caught up, unless it has new failures; others beside the
   * active one are dropped.
   */
  | {
      readonly type: 'Replace';
      readonly schemaVersion: number;
      readonly partitions: number;
      readonly pacePercent: number;
    }
  /** Of a projection whose definition is deleted. */
  | { readonly type: 'Forget' }
  | { readonly type: 'Verify'; readonly id: string }
  | { readonly type: 'Switch'; readonly isForced: boolean }
  | { readonly type: 'RollBack' }
  /** Null: the generation that is being built, otherwise the active one. */
  | { readonly type: 'Pause'; readonly generation: number | null }
  | { readonly type: 'Resume'; readonly generation: number | null }
  | { readonly type: 'Retire'; readonly generation: number }
  | {
      readonly type: 'ReportProgress';
      readonly generation: number;
      readonly places: Readonly<Record<string, PartitionProgress>>;
      readonly rows: number;
      /** Once it has caught up: changes that the active generation has rows of, and this one failed to take. */
      readonly newFailures?: number;
    }
  | { readonly type: 'ReportFailure'; readonly generation: number; readonly code: string }
  | {
      readonly type: 'ReportVerified';
      readonly generation: number;
      readonly id: string;
      readonly parts: Readonly<Record<string, VerifiedPart>>;
    }
  | {
      readonly type: 'ReportVerificationFailed';
      readonly generation: number;
      readonly id: string;
      readonly code: string;
    }
  | { readonly type: 'ReportRetired'; readonly generation: number }
);

type CommandOf<T extends ProjectionCommand['type']> = Extract<ProjectionCommand, { type: T }>;

export const projection: Decider<Projection | null, ProjectionCommand, ProjectionEvent> = {
  initial: null,

  decide(command, state) {
    const existing = state ?? untouched(command.name);
    switch (command.type) {
      case 'Rebuild':
        return requested(command, existing);
      case 'Begin':
        return begun(command, state);
      case 'Replace':
        return replaced(command, existing);
      case 'Forget':
        return state === null ? [] : [{ type: 'ProjectionForgotten', at: command.at }];
      case 'Verify':
        return verificationRequested(command, existing);
      case 'Switch':
        return switched(command, existing);
      case 'RollBack':
        return rolledBack(command, existing);
      case 'Pause':
      case 'Resume':
        return pausedOrResumed(command, existing);
      case 'Retire':
        return retired(command, existing);
      default:
        return reported(command, existing);
    }
  },

  evolve,
};

/** The generation beside the active one, if it is usable. */
const other = ({ generations, active }: Projection): Generation | undefined =>
  generations.find(({ number, state }) => number !== active && state !== 'retiring');

const refusal = (message: string): GatewayError => new GatewayError('conflict', { message });

function requested(command: CommandOf<'Rebuild'>, existing: Projection): ProjectionEvent[] {
  const { name } = command;
  const { active } = existing;
  if (existing.generations.some(({ number, state }) => number === active && state === 'building')) {
    throw refusal(`The first tables of ${name} are being filled. Wait until they are.`);
  }
  const [beside] = existing.generations.filter(({ number }) => number !== existing.active);
  if (beside !== undefined) {
    throw refusal(
      `Generation ${beside.number} of ${name} is ${beside.state}: there is one beside the active one at a time. ` +
        `Drop it first.`,
    );
  }
  return [generationRequested(command, existing)];
}

function begun(command: CommandOf<'Begin'>, state: Projection | null): ProjectionEvent[] {
  const { name, partitions, at } = command;
  if (state !== null) throw refusal(`${name} has tables already.`);
  const generation = newGeneration(command, 1);
  return [{ type: 'ProjectionBegun', name, partitions, generation, at }];
}

function replaced(command: CommandOf<'Replace'>, existing: Projection): ProjectionEvent[] {
  const { at } = command;
  const beside = existing.generations.filter(
    ({ number, state }) => number !== existing.active && state !== 'retiring',
  );
  const requestedEvent = generationRequested(command, existing);
  const generation: Generation = { ...requestedEvent.generation, switchesWhenReady: true };
  return [
    ...beside.map(
      ({ number }) =>
        ({ type: 'RetirementBegun', generation: number, at }) satisfies ProjectionEvent,
    ),
    { ...requestedEvent, generation },
  ];
}

function generationRequested(
  command: CommandOf<'Rebuild' | 'Replace'>,
  existing: Projection,
): Extract<ProjectionEvent, { type: 'GenerationRequested' }> {
  const { partitions, name, at } = command;
  const generation = newGeneration(command, existing.last + 1);
  return { type: 'GenerationRequested', name, partitions, generation, at };
}

const newGeneration = (
  { schemaVersion, pacePercent, at }: CommandOf<'Begin' | 'Rebuild' | 'Replace'>,
  number: number,
): Generation => ({
  number,
  schemaVersion,
  state: 'building',
  isPaused: false,
  pacePercent,
  requestedAt: at,
  readyAt: null,
  switchedAt: null,
  places: {},
  rows: 0,
  failure: null,
  verification: null,
});

function verificationRequested(
  command: CommandOf<'Verify'>,
  existing: Projection,
): ProjectionEvent[] {
  const { name, id, at } = command;
  const candidate = other(existing);
  if (candidate === undefined) throw refusal(`${name} has one generation: nothing to compare.`);
  const { number: generation, state, verification } = candidate;
  if (state !== 'ready' && state !== 'kept') {
    throw refusal(`Generation ${generation} of ${name} is ${state}: it cannot be compared yet.`);
  }
  refuseIfPaused(existing);
  if (verification !== null && verificationState(verification, existing.partitions) === 'running') {
    throw refusal(`Generation ${generation} of ${name} is being compared already.`);
  }
  const against = existing.active;
  return [{ type: 'VerificationRequested', name, generation, id, against, at }];
}

function switched(command: CommandOf<'Switch'>, existing: Projection): ProjectionEvent[] {
  const { name, at, isForced } = command;
  const candidate = other(existing);
  if (candidate === undefined) throw refusal(`${name} has no other generation. Rebuild it first.`);
  const { number, state, verification } = candidate;
  if (state !== 'ready') {
    const hint = state === 'kept' ? 'Roll back to go back to it.' : 'It must be ready.';
    throw refusal(`Generation ${number} of ${name} is ${state}. ${hint}`);
  }
  refuseIfPaused(existing);
  const found = verification === null ? null : verificationState(verification, existing.partitions);
  const isActiveDamaged = verification?.failure === 'projection_damaged';
  if (found !== 'passed' && !isActiveDamaged && !isForced) {
    const why = found === null ? 'was not verified' : `was verified with the outcome "${found}"`;
    throw refusal(`Generation ${number} of ${name} ${why}. Verify it, or force the switch.`);
  }
  return [{ type: 'Switched', from: existing.active, to: number, at }];
}

function rolledBack({ name, at }: CommandOf<'RollBack'>, existing: Projection): ProjectionEvent[] {
  const former = other(existing);
  if (former?.state !== 'kept') {
    throw refusal(`${name} has no former generation to roll back to.`);
  }
  refuseIfPaused(existing);
  return [{ type: 'RolledBack', from: existing.active, to: former.number, at }];
}

/** Generations switch only at the same position of the log, which paused ones do not reach. */
function refuseIfPaused({ name, generations }: Projection): void {
  const paused = generations.find(({ isPaused }) => isPaused);
  if (paused === undefined) return;
  throw refusal(`Generation ${paused.number} of ${name} is paused. Resume it first.`);
}

function pausedOrResumed(
  command: CommandOf<'Pause'> | CommandOf<'Resume'>,
  existing: Projection,
): ProjectionEvent[] {
  const { name, at } = command;
  const building = existing.generations.find(({ state }) => state === 'building');
  const number = command.generation ?? building?.number ?? existing.active;
  const { isPaused, state } = generationOf(existing, number);
  const wanted = command.type === 'Pause';
  if (state === 'retiring' || state === 'failed') {
    throw refusal(`Generation ${number} of ${name} is ${state}.`);
  }
  if (isPaused === wanted) return [];
  const type = wanted ? 'GenerationPaused' : 'GenerationResumed';
  return [{ type, name, generation: number, at }];
}

function retired(
  { name, generation, at }: CommandOf<'Retire'>,
  existing: Projection,
): ProjectionEvent[] {
  const { state } = generationOf(existing, generation);
  if (generation === existing.active) {
    throw refusal(`Generation ${generation} of ${name} is read: it cannot be dropped.`);
  }
  return state === 'retiring' ? [] : [{ type: 'RetirementBegun', generation, at }];
}

function generationOf({ name, generations }: Projection, wanted: number): Generation {
  const found = generations.find(({ number }) => number === wanted);
  if (found !== undefined) return found;
  throw new GatewayError('not_found', { message: `${name} has no generation ${wanted}.` });
}

type Report = Extract<ProjectionCommand, { type: `Report${string}` }>;

/** An outdated report has no effect. */
function reported(command: Report, existing: Projection): ProjectionEvent[] {
  const { generation, at } = command;
  const subject = existing.generations.find(({ number }) => number === generation);
  if (subject === undefined) return [];
  const { state, verification } = subject;
  switch (command.type) {
    case 'ReportProgress':
      return state === 'building' ? progressed(command, subject, existing) : [];
    case 'ReportFailure':
      if (generation === existing.active || state === 'failed' || state === 'retiring') return [];
      return [{ type: 'GenerationFailed', generation, code: command.code, at }];
    case 'ReportVerified':
      if (verification?.id !== command.id || verification.failure !== null) return [];
      return [{ type: 'PartsVerified', generation, parts: command.parts, at }];
    case 'ReportVerificationFailed':
      if (verification?.id !== command.id) return [];
      if (verificationState(verification, existing.partitions) !== 'running') return [];
      return [{ type: 'VerificationFailed', generation, code: command.code, at }];
    case 'ReportRetired':
      return state === 'retiring' ? [{ type: 'GenerationRetired', generation, at }] : [];
  }
}

function progressed(
  { generation, rows, at, ...command }: CommandOf<'ReportProgress'>,
  { places, switchesWhenReady }: Generation,
  { active, partitions, generations }: Projection,
): ProjectionEvent[] {
  const event = {
    type: 'GenerationProgressed',
    generation,
    places: command.places,
    rows,
    at,
  } as const;
  const all = Object.values({ ...places, ...command.places });
  const isReady = all.length >= partitions && all.every(({ isCaughtUp }) => isCaughtUp);
  if (!isReady) return [event];
  const { newFailures = 0 } = command;
  const caughtUp = { type: 'GenerationCaughtUp', generation, at } as const;
  if (switchesWhenReady !== true) return [event, caughtUp];
  // The rows of these records would disappear: an operator decides.
  if (newFailures > 0) return [event, { ...caughtUp, newFailures }];
  const isFormerWhole = generations.every(
    (one) => one.number !== active || one.state !== 'building',
  );
  return [
    event,
    caughtUp,
    { type: 'Switched', from: active, to: generation, at },
    // It never had all rows: no rollback leads to it.
    ...(isFormerWhole ? [] : [{ type: 'RetirementBegun', generation: active, at } as const]),
  ];
}

/** The state after the event. */
function evolve(state: Projection | null, event: ProjectionEvent): Projection | null {
  if (event.type === 'ProjectionForgotten') return null;
  const existing = state ?? ('name' in event ? untouched(event.name) : null);
  return existing === null ? null : { ...after(existing, event), updatedAt: event.at };
}

type EventOfState = Exclude<ProjectionEvent, { type: 'ProjectionForgotten' }>;

function after(state: Projection, event: EventOfState): Projection {
  switch (event.type) {
    case 'ProjectionBegun': {
      const { generation, partitions } = event;
      return { ...state, partitions, generations: [generation] };
    }
    case 'GenerationRequested': {
      const { generation, partitions } = event;
      const generations = [...state.generations, generation];
      return { ...state, partitions, last: generation.number, generations };
    }
    case 'GenerationRetired': {
      const isLeft = ({ number }: Generation): boolean => number !== event.generation;
      return { ...state, generations: state.generations.filter(isLeft) };
    }
    case 'Switched':
    case 'RolledBack': {
      const swapped = changed(state, event.to, { state: 'active', switchedAt: event.at });
      const former = changed(swapped, event.from, { state: 'kept', switchedAt: event.at });
      return { ...former, active: event.to };
    }
    default:
      return changed(state, event.generation, changes(state, event));
  }
}

type OfOne = Exclude<
  EventOfState,
  {
    type:
      | 'ProjectionBegun'
      | 'GenerationRequested'
      | 'GenerationRetired'
      | 'Switched'
      | 'RolledBack';
  }
>;

function changes(state: Projection, event: OfOne): Partial<Generation> {
  const { places, verification } = state.generations.find(
    ({ number }) => number === event.generation,
  ) ?? { places: {}, verification: null };
  switch (event.type) {
    case 'GenerationProgressed':
      return { places: { ...places, ...event.places }, rows: event.rows };
    case 'GenerationCaughtUp':
      return {
        state: event.generation === state.active ? 'active' : 'ready',
        readyAt: event.at,
        ...(event.newFailures === undefined ? {} : { newFailures: event.newFailures }),
      };
    case 'GenerationFailed':
      return { state: 'failed', failure: event.code };
    case 'VerificationRequested': {
      const { id, against, at: requestedAt } = event;
      return { verification: { id, against, requestedAt, parts: {}, failure: null } };
    }
    case 'PartsVerified':
      if (verification === null) return {};
      return {
        verification: { ...verification, parts: { ...verification.parts, ...event.parts } },
      };
    case 'VerificationFailed':
      return verification === null
        ? {}
        : { verification: { ...verification, failure: event.code } };
    case 'GenerationPaused':
      return { isPaused: true };
    case 'GenerationResumed':
      return { isPaused: false };
    case 'RetirementBegun':
      return { state: 'retiring' };
  }
}

function changed(state: Projection, number: number, changes: Partial<Generation>): Projection {
  const generations = state.generations.map((one) =>
    one.number === number ? { ...one, ...changes } : one,
  );
  return { ...state, generations };
}
