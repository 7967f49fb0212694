import { z } from 'zod';
import { isJsonObject, type Json } from '../../kernel/stable-json.ts';
import type { RunFailure } from '../../ports/sandbox.ts';
import type { AbortReason } from './messages.ts';

/** What a run says of its own end may not be larger than this. */
const reportCharsMax = 1024 * 1024;

export const outOfMemory: RunFailure = {
  kind: 'memory',
  name: 'RangeError',
  code: 'function_runtime_out_of_memory',
  message: 'The function used more memory than a run may.',
};

/** The process of the run ended, and not because of it. */
export const interrupted: RunFailure = {
  kind: 'interrupted',
  name: 'Error',
  code: 'run_interrupted',
  message: 'The run was interrupted.',
};

export const timedOut = (message: string): RunFailure => ({
  kind: 'timeout',
  name: 'TimeoutError',
  code: 'execution_timeout',
  message,
});

/** The code waits for a promise that nothing is left to settle. */
export const stuck: RunFailure = {
  kind: 'error',
  name: 'Error',
  message: 'The function waits for a promise that can never settle.',
};

export const tooMany = (message: string): RunFailure => ({
  kind: 'limit',
  name: 'RangeError',
  code: 'function_runtime_other',
  message,
});

export function aborted(reason: AbortReason): RunFailure {
  if (reason.code === 'execution_timeout') return timedOut(reason.message);
  return { kind: 'aborted', name: 'AbortError', code: 'script_aborted', message: reason.message };
}

/** As it was parsed: zod would leave out a key `__proto__`. */
const json = z.custom<Json>((value) => value !== undefined);
const headers = z.custom<Readonly<Record<string, string>>>(
  (value) => isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string'),
);

/** What an isolate may say of its own failure; the other kinds are the supervisor's to say. */
const reportSchema = z.object({
  kind: z.enum(['action_error', 'http', 'network', 'invalid', 'error']),
  name: z.string().max(500),
  message: z.string().max(20_000),
  code: z.string().max(500).optional(),
  payload: json.optional(),
  stack: z.string().max(10_000).optional(),
  upstream: z
    .object({
      status: z.int().min(100).max(999),
      headers,
      body: json,
    })
    .optional(),
});

/** What an isolate says of a thrown value is checked like any input. */
export function reportOf(text: string): RunFailure {
  const unreadable: RunFailure = { kind: 'error', name: 'Error', message: 'The function failed.' };
  if (text.length > reportCharsMax) return unreadable;
  try {
    const report = reportSchema.parse(JSON.parse(text)) as RunFailure;
    // What V8 says when memory outside of the heap would pass the limit.
    return report.message === 'Array buffer allocation failed' ? outOfMemory : report;
  } catch {
    return unreadable;
  }
}
