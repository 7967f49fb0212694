import type { Json, JsonObject } from '../../kernel/stable-json.ts';
import { functionTypeOf } from '../../modules/functions/functions/state.ts';
import { runLimits } from '../../modules/functions/runs/runtime/run-limits.ts';
import { dryHost } from './host.ts';
import { DryRecords } from './record-calls.ts';
import { schemaCheck, type Violation } from './schema.ts';
import type { DryRunResult, DryRunRequest, DryRunSession } from './session.ts';

/** Between Ctrl-C and the forced end: short, because the user is waiting. */
const graceMs = 1_000;

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
  const type = functionTypeOf(entry.kind);
  const result = await session.sandbox.run(
    {
      bundle: fn.bundle,
      fileName: `${entry.bundleName}.cjs`,
      type,
      entry: 'exec',
      input: input === undefined ? undefined : JSON.stringify(input),
      context: {
        connectionId,
        providerConfigKey: entry.integrationKey,
        provider: connection.provider,
        environmentName: session.environment,
        environmentId: 0,
        variant: stubs.variant,
        lastSyncDate: stubs.lastSyncDate,
        models: Object.keys(definition.models),
        loggerLevel: 'debug',
        paginate: await session.connections.pagination(connection.provider),
        // Checked here, against the schemas of the definition.
        validation: 'off',
      },
      limits: { ...runLimits[entry.kind], graceMs },
      signal: session.signal,
    },
    dryHost(session, { fn, name, stubs, records, depth: order.depth }, (other) =>
      dryRun(session, other),
    ),
  );
  if (session.isValidated && records.violation !== null) {
    return { output: undefined, failure: null, violation: records.violation };
  }
  if (result.status === 'error') {
    return { output: undefined, failure: result.error, violation: null };
  }
  const output = result.output === undefined ? undefined : (JSON.parse(result.output) as Json);
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
