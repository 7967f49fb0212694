/**
 * Why a process does not start, for who operates it: what is wrong, and how to fix it. Its message is all that is
 * shown; anything else that ends a start is a bug, and shown whole.
 */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';

  /** By its name: one that was thrown in a thread has lost its class. */
  static is(error: unknown): error is CannotStart {
    return error instanceof Error && error.name === 'CannotStart';
  }
}
