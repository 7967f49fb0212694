import type { JsonObject } from '#kernel/stable-json.ts';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import type { Context } from '../context.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import type { Journal } from './journal.ts';
import { failureBody, failureLines, outputText, syncMessages } from './report.ts';
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
export const dryRunFailure = (end: DryRunResult): CommandFailure =>
  new CommandFailure(failureLines(end).join('\n'), { exitCode: exitCodes.dryRunFailed });

function documentOf({ kind, end, batches }: FinishedRun): JsonObject {
  const { failure, violation, output } = end;
  const error =
    violation !== null
      ? { type: violation.code, payload: { violations: violation.lines, value: violation.value } }
      : failure === null
        ? null
        : failureBody(failure);
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
