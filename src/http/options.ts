import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { Caller, Idempotency } from './define-route.ts';

/** Options for the commands of a request, and the id of its runs. */
export interface RequestOptions extends ExecuteOptions {
  /** As `Idempotency.workId`; absent without an Idempotency-Key. */
  readonly workId?: string;
}

/** Options for the commands of a request: in the caller's name, once per Idempotency-Key. */
export function askOptions(input: {
  readonly caller: Caller;
  readonly idempotency?: Idempotency;
}): RequestOptions {
  return { actor: input.caller.actor, ...input.idempotency };
}

/**
 * As `askOptions`, for operations that send several commands to the same owner, such as a deletion: with one
 * Idempotency-Key the later ones would get the reply to the first. Repeating these commands is harmless.
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
