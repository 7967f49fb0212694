/**
 * Loads the in-process engine into the calling thread, without opening it. Call it in the main thread before a
 * worker thread opens the engine: a library that only a worker has loaded is unmapped when the worker ends, while
 * the engine's own threads still run, and the process crashes.
 */
export async function holdEngine(): Promise<void> {
  await import('chdb');
}
