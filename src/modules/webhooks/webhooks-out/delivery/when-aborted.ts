const actionsOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs the action when the signal aborts. All actions of a signal share one listener, because adding a listener takes
 * time linear in their number. Returns a function that removes the action.
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
