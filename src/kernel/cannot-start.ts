/**
 * Why a process does not start, for its operator: the cause and the fix. Only its message is shown; any other error
 * that ends a start is a bug and is shown in full.
 */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';

  /** By its name: an error thrown in another thread has lost its class. */
  static is(error: unknown): error is CannotStart {
    return error instanceof Error && error.name === 'CannotStart';
  }
}
