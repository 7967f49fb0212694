import { parseRawJson } from '#kernel/exact-json.ts';
import { objectOf, stableJson, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { LogLine } from '#ports/sandbox.ts';
import { merge } from '#rules/merge.ts';
import type { RecordedCall, RecordedOutcome, Recording } from './recording.ts';
import type { ReplayCalls } from './replay-calls.ts';

/** Of each model, of lines and of requests in a difference. */
const shownMax = 100;
/** Characters of all records in a difference: it travels as one body. */
const shownChars = 1024 ** 2;

/** What a replay did otherwise than the recorded attempt. */
export function differenceOf(
  recording: Recording,
  replay: ReplayCalls,
  outcome: RecordedOutcome,
): JsonObject {
  const then = effectsOf(recording.calls);
  const now = effectsOf(replay.done());
  const models = [...new Set([...then.records.keys(), ...now.records.keys()])];
  const sample = { charsLeft: shownChars };
  const records = Object.fromEntries(
    models.map((model) => [
      model,
      recordsOf(then.records.get(model), now.records.get(model), sample),
    ]),
  );
  const logs = linesOf(then.logs, now.logs);
  const unanswered = replay.unanswered();
  const unused = replay.unused();
  const parts = {
    outcome: changed(shownOutcome(recording.outcome), shownOutcome(outcome)),
    checkpoint: changed(then.checkpoint, now.checkpoint),
    metadata: changed(then.metadata, now.metadata),
    started: changed(then.started, now.started),
  };
  const isIdentical =
    Object.values(parts).every((part) => part === null) &&
    Object.values(records).every(({ isSame }) => isSame) &&
    logs.isSame &&
    unanswered.length + unused.length === 0;
  return {
    identical: isIdentical,
    ...parts,
    records: Object.fromEntries(
      Object.entries(records).map(([model, { shown }]) => [model, shown]),
    ),
    logs: logs.shown,
    requests: {
      unanswered: unanswered.slice(0, shownMax),
      not_made: unused.slice(0, shownMax),
    },
  };
}

interface Effects {
  /** By model and id. */
  readonly records: Map<string, Map<string, Effect>>;
  checkpoint: Json;
  /** Written by the run; null: none. */
  metadata: Json;
  /** Actions and syncs that it started. */
  readonly started: Json[];
  readonly logs: string[];
}

/** The last of what a run did with a record. */
type Effect = { readonly action: 'save' | 'update' | 'delete'; readonly record: JsonObject | null };

/** A refused call had no effect. */
function effectsOf(calls: readonly RecordedCall[]): Effects {
  const effects: Effects = {
    records: new Map(),
    checkpoint: null,
    metadata: null,
    started: [],
    logs: [],
  };
  for (const call of calls) if (call.error === undefined) apply(effects, call);
  return effects;
}

function apply(effects: Effects, { method, args = '{}', json = 'null' }: RecordedCall): void {
  const input = objectOf(parseRawJson(args));
  switch (method) {
    case 'batchSave':
    case 'batchUpdate':
    case 'batchDelete':
      for (const record of (input['records'] ?? []) as JsonObject[]) {
        const kind = ({ batchSave: 'save', batchUpdate: 'update', batchDelete: 'delete' } as const)[
          method
        ];
        put(ofModel(effects, input), kind, record);
      }
      return;
    case 'trackDeletesEnd':
    case 'deleteRecordsFromPreviousExecutions': {
      const ended = objectOf(parseRawJson(json));
      for (const id of (ended['deletedKeys'] ?? []) as string[]) {
        ofModel(effects, input).set(id, { action: 'delete', record: null });
      }
      return;
    }
    case 'saveCheckpoint':
      effects.checkpoint = input['checkpoint'] ?? null;
      return;
    case 'clearCheckpoint':
      effects.checkpoint = null;
      return;
    case 'setMetadata':
      effects.metadata = input['metadata'] ?? null;
      return;
    case 'updateMetadata':
      effects.metadata = { ...objectOf(effects.metadata), ...objectOf(input['metadata']) };
      return;
    case 'triggerAction':
    case 'triggerSync':
    case 'startSync':
      effects.started.push({ call: method, ...input });
      return;
    case 'log':
      for (const line of (input['lines'] ?? []) as JsonObject[]) {
        const { level, message, payload } = line as unknown as LogLine;
        effects.logs.push(`${level}: ${message}${payload === null ? '' : ` ${payload}`}`);
      }
      return;
    default:
  }
}

function ofModel({ records }: Effects, input: JsonObject): Map<string, Effect> {
  const model = input['model'] as string;
  const existing = records.get(model) ?? new Map<string, Effect>();
  records.set(model, existing);
  return existing;
}

function put(model: Map<string, Effect>, action: Effect['action'], record: JsonObject): void {
  const { id: own } = record as { readonly id: string | number };
  const id = String(own);
  const before = model.get(id);
  if (action === 'delete') model.set(id, { action, record: null });
  else if (action === 'save' || before?.record == null) model.set(id, { action, record });
  else model.set(id, { action: before.action, record: merge(before.record, record) });
}

type Difference = { readonly recorded: Json; readonly replayed: Json };

const changed = (recorded: Json, replayed: Json): Difference | null =>
  stableJson(recorded) === stableJson(replayed) ? null : { recorded, replayed };

const shownOutcome = ({ status, output, error }: RecordedOutcome): JsonObject => ({
  status,
  ...(output === null ? {} : { output: parseRawJson(output) as Json }),
  ...(error === null ? {} : { error: { ...error } }),
});

const shownEffect = (effect: Effect | undefined): Json =>
  effect === undefined ? null : { action: effect.action, record: effect.record };

function recordsOf(
  then: ReadonlyMap<string, Effect> = new Map(),
  now: ReadonlyMap<string, Effect> = new Map(),
  sample: { charsLeft: number },
): { readonly isSame: boolean; readonly shown: JsonObject } {
  const counts = { same: 0, changed: 0, only_recorded: 0, only_replayed: 0 };
  const examples: JsonObject[] = [];
  for (const id of new Set([...then.keys(), ...now.keys()])) {
    const difference = changed(shownEffect(then.get(id)), shownEffect(now.get(id)));
    if (difference === null) {
      counts.same += 1;
      continue;
    }
    const { recorded, replayed } = difference;
    if (recorded === null) counts.only_replayed += 1;
    else if (replayed === null) counts.only_recorded += 1;
    else counts.changed += 1;
    if (examples.length === shownMax) continue;
    sample.charsLeft -= stableJson(recorded).length + stableJson(replayed).length;
    if (sample.charsLeft > 0) examples.push({ id, recorded, replayed });
  }
  const isSame = counts.changed + counts.only_recorded + counts.only_replayed === 0;
  return { isSame, shown: { ...counts, differences: examples } };
}

/** Lines of either log that the other lacks, however often; their order does not matter. */
function linesOf(
  then: readonly string[],
  now: readonly string[],
): { readonly isSame: boolean; readonly shown: JsonObject } {
  const onlyThen = without(then, now);
  const onlyNow = without(now, then);
  return {
    isSame: onlyThen.length + onlyNow.length === 0,
    shown: {
      same: then.length - onlyThen.length,
      only_recorded: onlyThen.slice(0, shownMax),
      only_replayed: onlyNow.slice(0, shownMax),
    },
  };
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(line) ?? 0;
    if (count > 0) left.set(line, count - 1);
    return count === 0;
  });
}
