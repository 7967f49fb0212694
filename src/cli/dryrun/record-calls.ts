import { ApiError } from '#client/index.ts';
import { GatewayError } from '#kernel/errors.ts';
import { atPath } from '#kernel/json-path.ts';
import { objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { isoMillis, systemClock } from '#kernel/time.ts';
import type { FunctionDefinition, HostCalls } from '#ports/sandbox.ts';
import { parseArgs, parseJson, shapes } from '#rules/arguments.ts';
import { merge } from '#rules/merge.ts';
import type { ConnectionName } from './connections.ts';
import type { Batch } from './journal.ts';
import { schemaCheck, type Violation } from './schema.ts';
import type { DryRunSession, Stubs } from './session.ts';

/** Cursors of the service's own pages, which follow those of this run. */
const storedPrefix = 'stored:';

type Calls = Pick<
  HostCalls,
  | 'batchSave'
  | 'batchUpdate'
  | 'batchDelete'
  | 'trackDeletesStart'
  | 'trackDeletesEnd'
  | 'deleteRecordsFromPreviousExecutions'
  | 'getRecordsById'
  | 'listRecords'
  | 'setMergingStrategy'
>;

/** Records of one run: noted, never stored. Earlier stored ones are readable if the key allows it. */
export class DryRecords {
  readonly #world: DryRunSession;
  readonly #name: ConnectionName;
  readonly #variant: string;
  readonly #checks: ReadonlyMap<string, (value: Json) => readonly string[]>;
  /** Records saved by this run, by model and id. */
  readonly #saved = new Map<string, Map<string, JsonObject>>();
  #saidUnreadable = false;
  /** The first record that violates the schema of its model. */
  violation: Violation | null = null;

  constructor(
    session: DryRunSession,
    name: ConnectionName,
    { models }: Pick<FunctionDefinition, 'models'>,
    { variant }: Stubs,
  ) {
    this.#world = session;
    this.#name = name;
    this.#variant = variant;
    this.#checks = new Map(
      Object.entries(models).map(([model, schema]) => [model, schemaCheck(schema)] as const),
    );
  }

  readonly calls: Calls = {
    batchSave: async (args) => this.#write('save', args),
    batchUpdate: async (args) => this.#write('update', args),
    batchDelete: async (args) => this.#write('delete', args),
    trackDeletesStart: async (args) => {
      this.#skipped('trackDeletesStart', parseArgs(shapes.model, args).model);
      return 'null';
    },
    trackDeletesEnd: async (args) => this.#deletesNone('trackDeletesEnd', args),
    deleteRecordsFromPreviousExecutions: async (args) =>
      this.#deletesNone('deleteRecordsFromPreviousExecutions', args),
    setMergingStrategy: async (args) => {
      this.#skipped('setMergingStrategy', parseArgs(shapes.setMergingStrategy, args).model);
      return 'null';
    },
    getRecordsById: async (args) => {
      const { model, ids } = parseArgs(shapes.getRecordsById, args);
      const own = this.#savedOf(model);
      const found = ids.flatMap((id) => own.get(id) ?? []);
      const wanted = ids.filter((id) => !own.has(id));
      const stored = wanted.length === 0 ? null : await this.#stored(model, { ids: wanted });
      return JSON.stringify([...found, ...(stored?.records ?? [])]);
    },
    listRecords: async (args) => {
      const { model, cursor, limit } = parseArgs(shapes.listRecords, args);
      if (cursor === null) {
        const records = [...this.#savedOf(model).values()].map(asAdded);
        return JSON.stringify({ records, next_cursor: storedPrefix });
      }
      const from = cursor.startsWith(storedPrefix) ? cursor.slice(storedPrefix.length) : cursor;
      const page = await this.#stored(model, {
        limit,
        ...(from === '' ? {} : { cursor: from }),
      });
      const own = this.#savedOf(model);
      const records = (page?.records ?? []).filter(({ id }) => !own.has(id));
      const next = page?.next_cursor ?? null;
      return JSON.stringify({ records, next_cursor: next === null ? null : storedPrefix + next });
    },
  };

  #write(kind: Batch['kind'], args: string): string {
    const { model, records } = parseJson(args) as { model: string; records: JsonObject[] };
    if (kind === 'save') for (const record of records) this.#check(model, record);
    const own = this.#savedOf(model);
    for (const record of records) {
      const id = idText(record['id']);
      if (kind === 'delete') own.delete(id);
      else own.set(id, kind === 'save' ? record : merge(own.get(id) ?? {}, record));
    }
    this.#world.journal.batches.push({ kind, model, variant: this.#variant, records });
    return 'null';
  }

  /** @throws GatewayError when violations end the run */
  #check(model: string, record: JsonObject): void {
    const lines = this.#checks.get(model)?.(record) ?? [];
    if (lines.length === 0) return;
    const isFirst = this.violation === null;
    this.violation ??= { code: 'invalid_sync_record', lines, value: record };
    const message = `Invalid record payload of ${model}: ${lines.join('; ')}`;
    if (this.#world.isValidated) throw new GatewayError('invalid_request', { message });
    if (isFirst) this.#world.say('warn', message);
  }

  #savedOf(model: string): Map<string, JsonObject> {
    const existing = this.#saved.get(model) ?? new Map<string, JsonObject>();
    this.#saved.set(model, existing);
    return existing;
  }

  #deletesNone(method: string, args: string): string {
    this.#skipped(method, parseArgs(shapes.model, args).model);
    return '{"deletedKeys":[]}';
  }

  #skipped(method: string, model: string): void {
    this.#world.say('debug', `${method}('${model}') does nothing in a dry run`);
  }

  /** A page of the service's records; null if it knows no such model or, with one notice, if the key may not read them. */
  async #stored(
    model: string,
    part:
      | { readonly ids: readonly string[] }
      | { readonly cursor?: string; readonly limit: number },
  ) {
    const { integrationKey, connectionId } = this.#name;
    const headers = { 'provider-config-key': integrationKey, 'connection-id': connectionId };
    try {
      return await this.#world.client.request('GET /records', {
        query: { model, variant: this.#variant, ...part },
        headers,
      });
    } catch (error) {
      // The function that saves the model may not be deployed yet.
      if (isOfUnknownModel(error)) return null;
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      const message = 'Stored records are not read: the key has no scope environment:records:read';
      if (!this.#saidUnreadable) this.#world.say('warn', message);
      this.#saidUnreadable = true;
      return null;
    }
  }
}

/** Whether the service refused the name of the model (docs/reference/records.md#unknown-models). */
function isOfUnknownModel(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code !== 'invalid_query_params') return false;
  const { errors } = objectOf(objectOf(error.body)['error']);
  return Array.isArray(errors) && errors.some((issue: Json) => atPath(issue, 'path.0') === 'model');
}

/** The runtime has validated it: ids are texts here. */
const idText = (id: Json | undefined): string => (typeof id === 'string' ? id : '');

/** In the form of `listRecords` for a record that this run would add. */
function asAdded(record: JsonObject): JsonObject {
  const now = isoMillis(systemClock.now());
  return {
    ...record,
    _svc_metadata: {
      first_seen_at: now,
      last_modified_at: now,
      last_action: 'ADDED',
      deleted_at: null,
      cursor: '',
    },
  };
}
