import { GatewayError } from '#kernel/errors.ts';
import { parseWrittenJson } from '#kernel/exact-json.ts';
import { Mask } from '#kernel/mask.ts';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { HostAnswer, HostCall, HostCalls, HostMethod } from '#ports/sandbox.ts';
import { hostMethods } from '#ports/sandbox.ts';
import { InMemoryState } from '#rules/in-memory-state.ts';
import {
  askedOf,
  writtenMethods,
  type RecordedCall,
  type RecordedError,
  type Recording,
} from './recording.ts';

/** Which attempt is replayed, by which code. */
export interface ReplayOrder {
  readonly replayOf: {
    readonly runId: string;
    /** ms. */
    readonly queuedAt: number;
    readonly endedAt: number;
  };
  readonly kind: 'sync' | 'action' | 'on-event' | 'on-change';
  readonly entry: 'exec' | 'onWebhook';
  readonly bundle: string;
}

/** The calls of a replay: each is answered from the recording or in memory; none leaves the process. */
export interface ReplayCalls {
  readonly calls: HostCalls;
  /** What the code did, as a recording has it. */
  done(): readonly RecordedCall[];
  /** Calls without a recorded response: method and path of requests, names of others. */
  unanswered(): readonly string[];
  /** Recorded requests that the code has not made. */
  unused(): readonly string[];
}

/** The same answer, as often as it is asked for. */
const repeated: ReadonlySet<HostMethod> = new Set<HostMethod>([
  'getConnection',
  'getIntegration',
  'getEnvironmentVariables',
]);
/** A replay holds no locks. */
const released: Readonly<Partial<Record<HostMethod, string>>> = {
  releaseLock: 'true',
  releaseAllLocks: 'null',
};

export function createReplayCalls(recording: Recording): ReplayCalls {
  const answers = new RecordedAnswers(recording.calls);
  const replay: Replay = {
    recording,
    answers,
    mask: new Mask(),
    state: stateOf(recording),
    done: [],
    unanswered: [],
  };
  const calls = hostMethods.map((method): [HostMethod, HostCall] => {
    const answer = released[method];
    if (answer !== undefined) return [method, () => Promise.resolve(answer)];
    if (method === 'getCheckpoint') {
      return [method, async () => JSON.stringify(replay.state.checkpoint)];
    }
    return [method, writtenMethods.has(method) ? write(replay, method) : read(replay, method)];
  });
  return {
    calls: Object.fromEntries(calls) as HostCalls,
    done: () => replay.done,
    unanswered: () => replay.unanswered,
    unused: () => answers.unused(),
  };
}

interface Replay {
  readonly recording: Recording;
  readonly answers: RecordedAnswers;
  readonly mask: Mask;
  readonly state: InMemoryState;
  readonly done: RecordedCall[];
  readonly unanswered: string[];
}

/** The recorded calls by what they asked for; each answers once, in their order. */
class RecordedAnswers {
  readonly #calls: readonly RecordedCall[];
  readonly #byKey: ReadonlyMap<string, readonly RecordedCall[]>;
  readonly #used = new Set<RecordedCall>();

  constructor(calls: readonly RecordedCall[]) {
    this.#calls = calls;
    this.#byKey = Map.groupBy(calls, nameOf);
  }

  next(method: HostMethod, key: string): RecordedCall | undefined {
    const ofKey = this.#byKey.get(nameOf({ method, key })) ?? [];
    const unused = ofKey.find((call) => !this.#used.has(call));
    const found = unused ?? (repeated.has(method) ? ofKey.at(-1) : undefined);
    if (found !== undefined) this.#used.add(found);
    return found;
  }

  /** Requests that were not asked for. */
  unused(): string[] {
    return this.#calls.flatMap((call) =>
      call.shown === undefined || this.#used.has(call) ? [] : [call.shown],
    );
  }
}

/** The checkpoint at the start, and the metadata that the code has seen. */
function stateOf({ calls, checkpoint }: Recording): InMemoryState {
  const view = calls.find(({ method, json }) => method === 'getConnection' && json !== undefined);
  const initial = { checkpoint: JSON.parse(checkpoint) as JsonObject | null, metadata: null };
  return new InMemoryState(initial, async () =>
    objectOf(objectOf(JSON.parse(view?.json ?? '{}'))['metadata']),
  );
}

/** A call whose arguments are compared: it changes nothing but the memory of the replay. */
function write({ answers, mask, state, done }: Replay, method: HostMethod): HostCall {
  return async (args) => {
    const { key } = askedOf(method, args, mask);
    const kept = method === 'log' ? mask.text(args) : args;
    const call = { n: done.length, method, key, args: kept };
    const error = answers.next(method, key)?.error;
    done.push(error === undefined ? call : { ...call, error });
    if (error !== undefined) throw errorOf(error);
    return (await stateCall(state, method)?.(args)) ?? 'null';
  };
}

/** A call that the recording answers. */
function read(replay: Replay, method: HostMethod): HostCall {
  const { answers, mask, state, done, unanswered, recording } = replay;
  return async (args) => {
    const asked = askedOf(method, args, mask);
    const call = { n: done.length, method, ...asked, args };
    const past = answers.next(method, asked.key);
    if (past === undefined && method === 'tryAcquireLock') return 'true';
    if (past === undefined) {
      const name = asked.shown ?? method;
      unanswered.push(name);
      const message = `The recording has no response to ${name}.`;
      done.push({ ...call, error: { code: 'not_found', message } });
      throw new GatewayError('not_found', { message });
    }
    const { json = 'null', body, error } = past;
    done.push({ ...call, json, ...(error === undefined ? {} : { error }) });
    if (error !== undefined) throw errorOf(error);
    if (method === 'getEnvironmentVariables') learnVariables(json, mask);
    const shown = method === 'getConnection' ? withMetadata(json, recording, state) : json;
    return body === undefined ? shown : ({ json: shown, body } satisfies HostAnswer);
  };
}

const nameOf = ({ method, key }: Pick<RecordedCall, 'method' | 'key'>): string =>
  `${method} ${key}`;

const stateCall = ({ calls }: InMemoryState, method: HostMethod): HostCall | undefined =>
  (calls as HostCalls)[method];

const errorOf = ({ code, message }: RecordedError): GatewayError =>
  GatewayError.from({ code, details: { message } });

function learnVariables(json: string, mask: Mask): void {
  const variables = parseWrittenJson(json) as readonly { readonly value: string }[] | null;
  for (const { value } of variables ?? []) mask.add(value);
}

/** The connection as it was, with the metadata that the replay has written. */
function withMetadata(json: string, { context }: Recording, { metadata }: InMemoryState): string {
  if (metadata === null) return json;
  const view = parseWrittenJson(json) as Json;
  const isOwn =
    isJsonObject(view) &&
    view['connection_id'] === context.connectionId &&
    view['provider_config_key'] === context.providerConfigKey;
  return isOwn ? JSON.stringify({ ...view, metadata }) : json;
}
