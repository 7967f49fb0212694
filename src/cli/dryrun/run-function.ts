import { parseRawJson } from '#kernel/exact-json.ts';
import type { Json } from '#kernel/stable-json.ts';
import { functionTypeOf } from '#modules/functions/functions/function.ts';
import type {
  DroppedLines,
  HostCalls,
  RunContext,
  RunFailure,
  Sandbox,
  ValidationMode,
} from '#ports/sandbox.ts';
import { type FailureDetail } from '#rules/failure-detail.ts';
import { locateFailure } from '#rules/locate-failure.ts';
import { runLimits } from '#rules/run-limits.ts';
import type { Entry } from '../compiler/entries.ts';

/** Between Ctrl-C and the forced end: short, because the user is waiting. */
const graceMs = 1_000;

export interface BuiltFunction {
  readonly entry: Entry;
  readonly bundle: string;
  /** Names of the models. */
  readonly models: readonly string[];
}

/** The facts that the handle shows about a run. */
export type RunFacts = Pick<
  RunContext,
  'connectionId' | 'provider' | 'environmentName' | 'variant' | 'lastSyncDate' | 'paginate'
>;

export interface FunctionEnd {
  /** Undefined when the function returned nothing. */
  readonly output: Json | undefined;
  /** Null when the function ended well. */
  readonly failure: LocatedFailure | null;
  /** Absent: none. */
  readonly dropped?: DroppedLines | undefined;
}

/** A failure, and where it is in the project. */
export interface LocatedFailure extends RunFailure {
  readonly detail: FailureDetail;
}

/** Runs a function in the sandbox of the service, with the calls of a host. */
export async function runFunction(
  sandbox: Sandbox,
  { entry, bundle, models }: BuiltFunction,
  run: {
    readonly input: Json | undefined;
    readonly facts: RunFacts;
    readonly signal: AbortSignal;
    /** Absent: the host has checked the input. */
    readonly inputValidation?: ValidationMode;
  },
  calls: HostCalls,
): Promise<FunctionEnd> {
  const { input, facts, signal, inputValidation = 'off' } = run;
  const fileName = `${entry.bundleName}.cjs`;
  const result = await sandbox.run(
    {
      bundle,
      fileName,
      type: functionTypeOf(entry.kind),
      entry: 'exec',
      input: input === undefined ? undefined : JSON.stringify(input),
      context: {
        ...facts,
        providerConfigKey: entry.integrationKey,
        environmentId: 0,
        models,
        loggerLevel: 'debug',
        // A host checks other values against the schemas of the definition, if at all.
        validation: 'off',
        inputValidation,
      },
      limits: { ...runLimits[entry.kind], graceMs },
      signal,
    },
    calls,
  );
  const { dropped } = result;
  if (result.status === 'error') {
    const { error } = result;
    const source = { file: entry.path, source: '' };
    const detail = locateFailure(error, { bundle, fileName, entry: source });
    return { output: undefined, failure: { ...error, detail }, dropped };
  }
  const output = result.output === undefined ? undefined : (parseRawJson(result.output) as Json);
  return { output, failure: null, dropped };
}
