import { AsyncLocalStorage } from 'node:async_hooks';
import { randomFillSync } from 'node:crypto';

/** The header of HTTP and of messages that names a trace (W3C Trace Context). */
export const traceHeader = 'traceparent';

const traceForm = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/;
/** Version 00 ends here; a later version may continue after a hyphen. */
const traceChars = 55;

const running = new AsyncLocalStorage<string>();

/** The trace that the header names, without the additions of later versions; a new trace if it names none. */
export function traceOf(header: string | undefined): string {
  const isTrace =
    header !== undefined &&
    traceForm.test(header) &&
    (header.length === traceChars || (!header.startsWith('00') && header[traceChars] === '-'));
  return isTrace ? `00${header.slice(2, traceChars)}` : newTrace();
}

/** Random bytes are drawn for many traces at once. */
const drawn = Buffer.alloc(24 * 512);
let used = drawn.length;

/** No caller requested sampling: not sampled. */
function newTrace(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const text = drawn.toString('hex', used, used + 24);
  used += 24;
  return `00-${text.slice(0, 32)}-${text.slice(32)}-00`;
}

/** Runs `task` and everything that follows from it in the trace. */
export const inTrace = <T>(trace: string, task: () => T): T => running.run(trace, task);

/** The current trace; a new one outside of any. Passed on unchanged, because the service adds no spans. */
export const currentTrace = (): string => running.getStore() ?? newTrace();

/** For messages that belong to the trace. */
export const traceHeaders = (trace = currentTrace()): { readonly [traceHeader]: string } => ({
  [traceHeader]: trace,
});
