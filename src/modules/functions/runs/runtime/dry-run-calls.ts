import { GatewayError } from '#kernel/errors.ts';
import { parseWrittenJson, parseRawJson } from '#kernel/exact-json.ts';
import type { Mask } from '#kernel/mask.ts';
import { objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { HostCall, HostCalls, LogLine } from '#ports/sandbox.ts';
import { parseArgs, shapes } from '#rules/arguments.ts';
import { InMemoryState } from '#rules/in-memory-state.ts';
import { merge } from '#rules/merge.ts';

/** A dry run of a function on a connection (docs/reference/http.md#functions-and-deployments). */
export interface DryRunOrder {
  readonly functionType: 'sync' | 'action';
  readonly bundle: string;
  readonly input?: Json;
  /** Replaces the connection's own. */
  readonly metadata?: JsonObject;
  readonly checkpoint?: JsonObject;
  /** ISO 8601. */
  readonly lastSyncDate?: string;
}

export interface DryRun {
  readonly calls: HostCalls;
  /** The changes that the function would have made. */
  result(): JsonObject;
}

/** Limits of the records of a model and the log lines in a result. */
const shownMax = 100;

/** The calls of a run without writes: requests are sent, everything else stays in memory. */
export function createDryRun(
  real: HostCalls,
  own: { readonly integrationKey: string; readonly connectionId: string },
  order: DryRunOrder,
  mask: Mask,
): DryRun {
  const models = new Map<string, Model>();
  const modelOf = (name: string): Model => {
    const model = models.get(name) ?? new Model();
    models.set(name, model);
    return model;
  };
  const lines: LogLine[] = [];
  const connection = async (args: string): Promise<JsonObject> => {
    const answer = await real.getConnection?.(args);
    const text = typeof answer === 'string' ? answer : (answer?.json ?? '{}');
    return parseWrittenJson(text) as JsonObject;
  };

  const { checkpoint = null, metadata = null } = order;
  const state = new InMemoryState({ checkpoint, metadata }, async () =>
    objectOf((await connection('{}'))['metadata']),
  );

  const calls: HostCalls = {
    ...real,
    ...state.calls,
    ...recordCalls(modelOf),
    triggerAction: refused,
    triggerSync: refused,
    startSync: refused,
    getConnection: async (args) => {
      const found = await connection(args);
      const isOwn =
        found['connection_id'] === own.connectionId &&
        found['provider_config_key'] === own.integrationKey;
      if (!isOwn || state.metadata === null) return JSON.stringify(found);
      return JSON.stringify({ ...found, metadata: state.metadata });
    },
    log: async (args) => {
      lines.push(...parseArgs(shapes.log, args).lines.slice(0, shownMax - lines.length));
      return 'null';
    },
  };
  return {
    calls,
    result: () => ({
      records: Object.fromEntries([...models].map(([name, model]) => [name, model.shown()])),
      ...(state.metadata === null ? {} : { metadata: state.metadata }),
      checkpoint: state.checkpoint,
      logs: lines.map((line) => mask.data(shownLine(line))),
    }),
  };
}

const shownLine = ({ level, message, payload }: LogLine): JsonObject => ({
  level,
  message,
  ...(payload === null ? {} : { payload }),
});

const refused: HostCall = () => {
  const message = 'A dry run cannot start another function.';
  return Promise.reject(new GatewayError('invalid_request', { message }));
};

type Row = JsonObject & { readonly id: string };

/** The saved records of one model, initially empty. */
class Model {
  readonly #rows = new Map<string, Row>();
  readonly #deleted = new Set<string>();
  #seen: Set<string> | null = null;

  save(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#rows.set(row.id, row);
      this.#deleted.delete(row.id);
      this.#seen?.add(row.id);
    }
  }

  update(rows: readonly Row[]): void {
    for (const row of rows) {
      const existing = this.#rows.get(row.id);
      if (existing !== undefined) this.save([merge(existing, row) as Row]);
    }
  }

  delete(ids: readonly string[]): void {
    for (const id of ids) this.#deleted.add(id);
  }

  passStart(): void {
    this.#seen ??= new Set();
  }

  passEnd(model: string): readonly string[] {
    const seen = this.#seen;
    if (seen === null) {
      const message = `No track deletes starting point found for model '${model}'.`;
      throw new GatewayError('delete_pass_missing', { message });
    }
    this.#seen = null;
    const gone = [...this.#rows.keys()].filter((id) => !seen.has(id) && !this.#deleted.has(id));
    this.delete(gone);
    return gone;
  }

  find(ids: readonly string[]): Row[] {
    return ids.flatMap((id) => this.#rows.get(id) ?? []);
  }

  all(): Row[] {
    return [...this.#rows.values()];
  }

  shown(): JsonObject {
    const alive = this.all().filter(({ id }) => !this.#deleted.has(id));
    return {
      saved: alive.length,
      deleted: this.#deleted.size,
      sample: alive.slice(0, shownMax),
    };
  }
}

function recordCalls(modelOf: (name: string) => Model): HostCalls {
  const batch = (args: string) => parseRawJson(args) as { model: string; records: Row[] };
  const named = (args: string) => parseArgs(shapes.model, args).model;
  return {
    batchSave: async (args) => {
      const { model, records } = batch(args);
      modelOf(model).save(records);
      return 'null';
    },
    batchUpdate: async (args) => {
      const { model, records } = batch(args);
      modelOf(model).update(records);
      return 'null';
    },
    batchDelete: async (args) => {
      const { model, records } = batch(args);
      modelOf(model).delete(records.map(({ id }) => id));
      return 'null';
    },
    trackDeletesStart: async (args) => {
      modelOf(named(args)).passStart();
      return 'null';
    },
    trackDeletesEnd: async (args) => {
      const model = named(args);
      return JSON.stringify({ deletedKeys: modelOf(model).passEnd(model) });
    },
    // There are no previous executions.
    deleteRecordsFromPreviousExecutions: async () => '{"deletedKeys":[]}',
    getRecordsById: async (args) => {
      const { model, ids } = parseArgs(shapes.getRecordsById, args);
      return JSON.stringify(modelOf(model).find(ids));
    },
    listRecords: async (args) =>
      JSON.stringify({ records: modelOf(named(args)).all(), next_cursor: null }),
    setMergingStrategy: async () => 'null',
  };
}
