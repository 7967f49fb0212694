import { z } from 'zod';
import { limits } from '#kernel/limits.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { RunFailure } from '#ports/sandbox.ts';
import type { AbortReason } from './messages.ts';

/** Limit of a run's report about its own end. */
const reportCharsMax = 1024 * 1024;

export const outOfMemory: RunFailure = {
  kind: 'memory',
  name: 'RangeError',
  code: 'function_runtime_out_of_memory',
  message: 'The function exceeded the memory limit of a run.',
};

/** The process of the run ended, for another reason. */
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

/** The code waits for a promise that can no longer be settled. */
export const stuck: RunFailure = {
  kind: 'error',
  name: 'Error',
  message: 'The function awaits a promise that cannot settle.',
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

/** Unchanged: zod would drop a key `__proto__`. */
const json = z.custom<Json>((value) => value !== undefined);
const headers = z.custom<Readonly<Record<string, string>>>(
  (value) => isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string'),
);

const stack = z.string().max(10_000).optional();
const cause = z.object({
  name: z.string().max(500),
  message: z.string().max(5_000),
  code: z.string().max(500).optional(),
  stack,
});
const call = z.object({
  method: z.string().max(20),
  url: z.string().max(5_000),
  status: z.int().min(100).max(999).nullable(),
  code: z.string().max(500).nullable(),
  // Cut in the isolate, with a mark.
  body: z
    .string()
    .max(limits.failureBodyCharsMax + 100)
    .nullable(),
});

/** Failures that an isolate may report about itself; the supervisor determines the other kinds. */
const reportSchema = z.object({
  kind: z.enum(['action_error', 'http', 'network', 'invalid', 'error']),
  name: z.string().max(500),
  message: z.string().max(20_000),
  code: z.string().max(500).optional(),
  payload: json.optional(),
  stack,
  causes: z.array(cause).max(limits.failureCausesMax).optional(),
  call: call.optional(),
  upstream: z
    .object({
      status: z.int().min(100).max(999),
      headers,
      body: json,
    })
    .optional(),
});

/** An isolate's report of a thrown value is validated like any input. */
export function reportOf(text: string): RunFailure {
  const unreadable: RunFailure = { kind: 'error', name: 'Error', message: 'The function failed.' };
  if (text.length > reportCharsMax) return unreadable;
  try {
    const report = reportSchema.parse(JSON.parse(text)) as RunFailure;
    // V8's message when memory outside the heap would exceed the limit.
    return report.message === 'Array buffer allocation failed' ? outOfMemory : report;
  } catch {
    return unreadable;
  }
}
