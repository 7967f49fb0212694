import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { dryHost } from './host.ts';
import { DryRecords } from './record-calls.ts';
import { runFunction } from './run-function.ts';
import { schemaCheck, type Violation } from './schema.ts';
import type { DryRunResult, DryRunRequest, DryRunSession } from './session.ts';

/**
 * Runs a function locally, in the sandbox of the service, with a connection of the service.
 * @throws ApiError when connection or integration cannot be read
 */
export async function dryRun(session: DryRunSession, order: DryRunRequest): Promise<DryRunResult> {
  const { fn, connectionId, input, stubs } = order;
  const { definition, entry } = fn;
  const name = { integrationKey: entry.integrationKey, connectionId };
  const connection = await session.connections.connection(name);
  const refused = violationOf(session, 'invalid_action_input', definition.input, input, entry.kind);
  if (refused !== null) return { output: undefined, failure: null, violation: refused };

  const records = new DryRecords(session, name, definition, stubs);
  const { provider } = connection;
  const paginate = await session.connections.pagination(provider);
  const { variant, lastSyncDate } = stubs;
  const environmentName = session.environment;
  const { output, failure } = await runFunction(
    session.sandbox,
    { entry, bundle: fn.bundle, models: Object.keys(definition.models) },
    {
      input,
      facts: { connectionId, provider, environmentName, variant, lastSyncDate, paginate },
      signal: session.signal,
    },
    dryHost(session, { fn, name, stubs, records, depth: order.depth }, (other) =>
      dryRun(session, other),
    ),
  );
  if (session.isValidated && records.violation !== null) {
    return { output: undefined, failure: null, violation: records.violation };
  }
  if (failure !== null) return { output, failure, violation: null };
  const code = 'invalid_action_output';
  const violation = violationOf(session, code, definition.output, output, entry.kind);
  return { output, failure: null, violation };
}

/** Also null if a violation is only a warning. */
function violationOf(
  session: DryRunSession,
  code: Violation['code'],
  schema: JsonObject | null,
  value: Json | undefined,
  kind: string,
): Violation | null {
  if (kind !== 'action' || schema === null) return null;
  const lines = schemaCheck(schema)(value);
  if (lines.length === 0) return null;
  if (session.isValidated) return { code, lines, value: value ?? null };
  session.say('warn', `${code}: ${lines.join('; ')}`);
  return null;
}
