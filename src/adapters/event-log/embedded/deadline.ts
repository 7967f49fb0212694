import { GatewayError } from '../../../kernel/errors.ts';

/** @throws GatewayError `log_unavailable` when the reply does not arrive in time; a later one is ignored. */
export function withDeadline<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `The event log did not acknowledge within ${timeoutMs} ms.`;
      reject(new GatewayError('log_unavailable', { message }));
    }, timeoutMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
