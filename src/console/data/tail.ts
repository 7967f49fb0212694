import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventOperation, Input } from '#client/index.ts';
import { useAccess } from '../session/context.tsx';

/** The newest that are kept in the page. */
const keptMax = 500;
/** Events of one moment are shown together. */
const togetherMs = 200;

interface Tail<Item> {
  /** Newest first. */
  readonly items: readonly Item[];
  readonly error: unknown;
}

interface TailOptions<Item> {
  /** Events of other names are left out. */
  readonly event: string;
  readonly keyOf: (item: Item) => string;
}

/** The newest of what a stream sends. An item that comes again after an interruption is shown once. */
export function useTail<O extends EventOperation, Item>(
  operation: O,
  input: Input<O>,
  { event: wanted, keyOf }: TailOptions<Item>,
): Tail<Item> {
  const { client } = useAccess();
  const [items, setItems] = useState<readonly Item[]>([]);
  const [error, setError] = useState<unknown>(null);
  const latest = useRef(keyOf);
  latest.current = keyOf;
  const text = JSON.stringify(input);
  useEffect(() => {
    const stop = new AbortController();
    let arrived: Item[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      timer = undefined;
      const fresh = arrived.toReversed();
      arrived = [];
      setItems((existing) => firstOf([...fresh, ...existing], latest.current));
    };
    const follow = async (): Promise<void> => {
      const sent = { ...(JSON.parse(text) as Input<O>), signal: stop.signal };
      for await (const { event, data } of client.events(operation, sent)) {
        if (event !== wanted) continue;
        // The service guarantees the shape.
        arrived.push(data as Item);
        if (arrived.length > keptMax) arrived.shift();
        timer ??= setTimeout(show, togetherMs);
      }
    };
    setItems([]);
    setError(null);
    follow().catch((failure: unknown) => {
      if (!stop.signal.aborted) setError(failure);
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [client, operation, text, wanted]);
  return { items, error };
}

/** The first of each key, as many as are kept. */
function firstOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  const byKey = new Map<string, Item>();
  for (const item of items) {
    if (byKey.size === keptMax) break;
    const key = keyOf(item);
    if (!byKey.has(key)) byKey.set(key, item);
  }
  return [...byKey.values()];
}
