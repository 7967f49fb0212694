import { GatewayError } from '#kernel/errors.ts';
import type { ControlCommand } from './entity.ts';
import type { Reply } from './replies.ts';

/** The owners of this process: a command passed to them skips the log in both directions. */
export interface InProcessOwners {
  /**
   * Resolves once the decision is durable; `trace` is the trace of the command. Null: no owner here could decide
   * and nothing was written, so that the command may go over the log.
   * @throws GatewayError what the decider refused with; `log_full`: nothing was written; `log_unavailable`: the
   *   command may or may not have been decided
   */
  decide(command: ControlCommand, trace: string): Promise<Reply<object> | null>;
}

/** The same answer, bounded by a timeout. @throws GatewayError `log_unavailable` after the time */
export async function within<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const message = 'The owner did not decide in time; the request may still be executed.';
  const tooLate = (): void => reject(new GatewayError('log_unavailable', { message }));
  const timer = setTimeout(tooLate, timeoutMs).unref();
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
