import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { mocksPath, type Mocks } from '../mocks/mocks.ts';
import type { DryRunResult, DryRunRequest, DryRunSession } from './session.ts';

/** Writes input, calls and results of the run, for `svc generate:tests`. Resolves with the file's path. */
export async function saveMocks(
  root: string,
  session: DryRunSession,
  order: DryRunRequest,
  end: DryRunResult,
): Promise<string> {
  const { fn, connectionId, input, stubs } = order;
  const { integrationKey, name } = fn.entry;
  const { journal } = session;
  const connection = await session.connections.connection({ integrationKey, connectionId });
  const { provider } = connection;
  const metadata = stubs.metadata ?? objectOf(connection.metadata);
  const mocks: Mocks = {
    ...(input === undefined ? {} : { input }),
    ...(end.output === undefined ? {} : { output: end.output }),
    run: {
      provider,
      variant: stubs.variant,
      lastSyncDate: stubs.lastSyncDate,
      paginate: await session.connections.pagination(provider),
    },
    svc: {
      getConnection: withoutSecrets(objectOf({ ...connection, metadata })),
      getMetadata: metadata,
      getCheckpoint: stubs.checkpoint,
      batchSave: journal.recordsOf('save'),
      batchUpdate: journal.recordsOf('update'),
      batchDelete: journal.recordsOf('delete'),
      calls: journal.calls,
    },
    api: journal.api,
    fetch: journal.fetched,
  };
  const file = mocksPath(integrationKey, name);
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), `${JSON.stringify(mocks, null, 2)}\n`);
  return file;
}

/** The credentials keep their names, for code that reads them, without their values. */
function withoutSecrets(connection: JsonObject): JsonObject {
  const { credentials } = connection;
  if (!isJsonObject(credentials)) return connection;
  return { ...connection, credentials: masked(credentials) };
}

function masked(credentials: JsonObject): JsonObject {
  const entries = Object.entries(credentials).map(([key, value]): [string, Json] => {
    if (key === 'type' || value === null) return [key, value];
    return [key, isJsonObject(value) ? masked(value) : 'masked'];
  });
  return Object.fromEntries(entries);
}
