const actionsOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Does the action when the signal aborts. However many there are on one signal, it has one listener: each
 * more on a signal costs a walk along all that it has. Returns what takes the action back.
 */
export function whenAborted(signal: AbortSignal, action: () => void): () => void {
  const existing = actionsOf.get(signal);
  const actions = existing ?? new Set();
  if (existing === undefined) {
    actionsOf.set(signal, actions);
    const all = (): void => {
      for (const one of [...actions]) one();
    };
    signal.addEventListener('abort', all, { once: true });
  }
  actions.add(action);
  return () => void actions.delete(action);
}
