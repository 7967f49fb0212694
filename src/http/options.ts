import type { ExecuteOptions } from '../control-plane/control-plane.ts';
import type { Caller, Idempotency } from './define-route.ts';

/** How the commands of a request are sent, and what its runs are named by. */
export interface RequestOptions extends ExecuteOptions {
  /** As `Idempotency.workId`; absent without an Idempotency-Key. */
  readonly workId?: string;
}

/** How the commands of a request are sent: in the caller's name, once per Idempotency-Key. */
export function askOptions(input: {
  readonly caller: Caller;
  readonly idempotency?: Idempotency;
}): RequestOptions {
  return { actor: input.caller.actor, ...input.idempotency };
}

/**
 * As `askOptions`, for what takes several commands to the same owner, such as a deletion: with one
 * Idempotency-Key the later ones would be answered as the first. Doing it again is harmless anyway.
 */
export function repeatableOptions({
  caller,
  idempotency,
}: {
  readonly caller: Caller;
  readonly idempotency?: Idempotency;
}): RequestOptions {
  const { actor } = caller;
  return idempotency === undefined ? { actor } : { actor, workId: idempotency.workId };
}
