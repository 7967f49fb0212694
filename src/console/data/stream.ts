import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventOperation, Input } from '#client/index.ts';
import { useAccess } from '../session/context.tsx';

/** Between an event and what it calls: the tables follow the log. */
const settleMs = 1_000;
/** From the last event to one more call, for what the tables had not reached before. */
const lateMs = 5_000;

/**
 * Calls back after events of a stream, at most once a second, and some seconds after the last, while the page is visible: a
 * hidden one would keep one of the few connections that a browser has for a host.
 * @returns false once the service has refused the stream
 */
export function useStream<O extends EventOperation>(
  operation: O,
  input: Input<O>,
  onEvents: () => void,
): boolean {
  const { client } = useAccess();
  const isVisible = useVisibility();
  const [isRefused, setRefused] = useState(false);
  const latest = useRef(onEvents);
  latest.current = onEvents;
  const text = JSON.stringify(input);
  useEffect(() => {
    // A new client acts for a new session, which may follow again.
    setRefused(false);
    if (!isVisible) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let late: ReturnType<typeof setTimeout> | undefined;
    const follow = async (): Promise<void> => {
      const sent = { ...(JSON.parse(text) as Input<O>), signal: stop.signal };
      for await (const _event of client.events(operation, sent)) {
        timer ??= setTimeout(() => {
          timer = undefined;
          latest.current();
        }, settleMs);
        clearTimeout(late);
        late = setTimeout(() => latest.current(), lateMs);
      }
    };
    follow().catch(() => {
      if (!stop.signal.aborted) setRefused(true);
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
      clearTimeout(late);
    };
  }, [client, operation, text, isVisible]);
  return !isRefused;
}

function useVisibility(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const update = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', update);
    return () => document.removeEventListener('visibilitychange', update);
  }, []);
  return isVisible;
}
