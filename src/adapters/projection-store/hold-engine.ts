/**
 * Loads the in-process engine into the calling thread, without opening it. To be called by the main thread
 * before a worker thread opens the engine: a library that only a worker has loaded is unmapped when the worker
 * ends, under the feet of the engine's own threads, and the process dies of it.
 */
export async function holdEngine(): Promise<void> {
  await import('chdb');
}
