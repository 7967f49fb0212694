import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { RunFailure } from '#ports/sandbox.ts';
import type { Batch, Journal } from './journal.ts';
import type { DryRunResult } from './session.ts';

const pretty = (value: Json | undefined): string => JSON.stringify(value, null, 2);
const verbs = { save: 'save', update: 'update', delete: 'delete' } as const;

/** What a sync would have stored, as readable text: first the counts, then a message per call. */
export function syncMessages(journal: Pick<Journal, 'batches' | 'count'>): string[] {
  const counts = {
    updated: journal.count('update'),
    added: journal.count('save'),
    deleted: journal.count('delete'),
  };
  return [
    `The dry run would produce the following results: ${JSON.stringify(counts)}`,
    ...journal.batches.flatMap(batchMessages),
  ];
}

function batchMessages({ kind, model, variant, records }: Batch): string[] {
  const suffix = variant === 'base' ? '' : ` (variant: ${variant})`;
  const verb = verbs[kind];
  return [
    `A batch ${verb} call would ${verb} the following data to the ${model} model${suffix}:`,
    ...records.map(pretty),
  ];
}

/** The output of an action as readable text. */
export const outputText = (output: Json | undefined): string =>
  output === undefined || output === null ? 'no output' : pretty(output);

/** Why a dry run failed, as readable text (docs/reference/cli.md#dry-runs). */
export function failureLines({ failure, violation }: DryRunResult): string[] {
  const head = 'An error occurred during execution';
  if (violation !== null) {
    const { code, lines, value } = violation;
    return [head, code, ...lines.map((line) => `  ${line}`), pretty(value)];
  }
  if (failure === null) return [];
  const { type, payload } = failureBody(failure);
  return [head, type, pretty(payload)];
}

/** Type and payload as in the response to a trigger of a deployed function. */
export function failureBody(failure: RunFailure): {
  readonly type: string;
  readonly payload: JsonObject;
} {
  const { kind, name, message, code, payload, upstream, stack } = failure;
  switch (kind) {
    case 'action_error':
      return { type: 'action_script_runtime_error', payload: (payload ?? {}) as JsonObject };
    case 'http':
      return {
        type: 'script_http_error',
        payload: { status: upstream?.status ?? null, body: upstream?.body ?? payload ?? null },
      };
    case 'network':
      return { type: 'script_network_error', payload: { name, message, code: code ?? null } };
    case 'error':
    case 'invalid':
    case 'aborted':
    case 'timeout':
    case 'memory':
    case 'output_too_large':
    case 'limit':
    case 'interrupted': {
      const lines = stack?.split('\n').slice(0, stackLinesMax) ?? [];
      const trace = lines.length === 0 ? {} : { stacktrace: lines.map((line) => line.trim()) };
      return { type: code ?? 'script_internal_error', payload: { name, message, ...trace } };
    }
  }
}

const stackLinesMax = 5;
