/**
 * Runs the task for each item, a few at a time; the results are in the order of the items. After an error no other task
 * is started.
 * @throws the first error of a task
 */
export async function inParallel<T, R>(
  items: readonly T[],
  task: (item: T) => Promise<R>,
  atOnce = 8,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (hasFailed) return;
      try {
        results[index] = await task(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
