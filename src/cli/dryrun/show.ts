import type { JsonObject, Json } from '#kernel/stable-json.ts';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import { frameText } from '#rules/caller-error.ts';
import { presentFailure } from '#rules/failure-detail.ts';
import type { Context } from '../context.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { failureLines } from '../failure-text.ts';
import type { Output } from '../output.ts';
import type { Journal, Batch } from './journal.ts';
import type { LocatedFailure } from './run-function.ts';
import type { DryRunResult } from './session.ts';

/** Messages of a sync shown before a prompt for more. */
const messagesPerScreen = 10;

/** A finished dry run or replay. */
export interface FinishedRun {
  readonly kind: FunctionKind;
  readonly end: DryRunResult;
  readonly batches: Pick<Journal, 'batches' | 'count'>;
}

/** Prints the result; nothing for a failure, unless as JSON. */
export async function showEnd(
  context: Context,
  finished: FinishedRun,
  { isJson, isAsked }: { readonly isJson: boolean; readonly isAsked: boolean },
): Promise<void> {
  const { output } = context;
  if (isJson) output.result(JSON.stringify(documentOf(finished)));
  else if (!isOk(finished.end)) return;
  else if (finished.kind === 'sync') {
    await showMessages(context, syncMessages(finished.batches), isAsked);
  } else output.result(outputText(finished.end.output));
}

export const isOk = ({ failure, violation }: DryRunResult): boolean =>
  failure === null && violation === null;

/** The end of the command if the function failed. */
export const dryRunFailure = (end: DryRunResult, { output }: Context): CommandFailure =>
  new CommandFailure(endLines(end, output.paint).join('\n'), {
    exitCode: exitCodes.dryRunFailed,
  });

function documentOf({ kind, end, batches }: FinishedRun): JsonObject {
  const { failure, violation, output } = end;
  const error =
    violation !== null
      ? { type: violation.code, payload: { violations: violation.lines, value: violation.value } }
      : failure === null
        ? null
        : { ...failureBody(failure), failure: shownFailure(failure) };
  const results = {
    added: batches.count('save'),
    updated: batches.count('update'),
    deleted: batches.count('delete'),
  };
  const messages = batches.batches.map((batch) => ({ ...batch }));
  return {
    status: error === null ? 'success' : 'failed',
    ...(output === undefined ? {} : { output }),
    ...(kind === 'sync' ? { results, messages } : {}),
    error,
  };
}

// For the compiler an interface is no JSON, whatever its fields are.
const shownFailure = ({ detail }: LocatedFailure): JsonObject =>
  presentFailure(detail) as unknown as JsonObject;

async function showMessages(
  context: Context,
  messages: readonly string[],
  isAsked: boolean,
): Promise<void> {
  for (const [at, message] of messages.entries()) {
    if (isAsked && at > 0 && at % messagesPerScreen === 0) {
      const left = messages.length - at;
      if (!/^(y(es)?)?$/i.test(await context.prompt(`${left} more: continue y/n? `))) return;
    }
    context.output.result(message);
  }
}

const pretty = (value: Json | undefined): string => JSON.stringify(value, null, 2);
const verbs = { save: 'save', update: 'update', delete: 'delete' } as const;

/** What a sync would have stored, as readable text: first the counts, then a message per call. */
function syncMessages(journal: Pick<Journal, 'batches' | 'count'>): string[] {
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
const outputText = (output: Json | undefined): string =>
  output === undefined || output === null ? 'no output' : pretty(output);

/** Why a dry run failed, as readable text (docs/reference/cli.md#dry-runs). */
function endLines({ failure, violation }: DryRunResult, paint: Output['paint']): string[] {
  const head = 'An error occurred during execution';
  if (violation !== null) {
    const { code, lines, value } = violation;
    return [head, code, ...lines.map((line) => `  ${line}`), pretty(value)];
  }
  if (failure === null) return [];
  const { type, payload } = failureBody(failure);
  return [head, type, pretty(payload), ...failureLines(presentFailure(failure.detail), paint)];
}

/** Type and payload as in the response to a trigger of a deployed function. */
function failureBody(failure: LocatedFailure): {
  readonly type: string;
  readonly payload: JsonObject;
} {
  const { kind, name, message, code, payload, upstream, detail } = failure;
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
      const lines = detail.frames.slice(0, stackLinesMax).map(frameText);
      const trace = lines.length === 0 ? {} : { stacktrace: lines };
      return { type: code ?? 'script_internal_error', payload: { name, message, ...trace } };
    }
  }
}

const stackLinesMax = 5;
