import type { ControlView } from './control-plane.ts';

/**
 * What `find` finds in this node's view or, if nothing, what it finds once the view has caught up: another node may
 * just have created it.
 */
export async function findCaughtUp<T>(
  view: Pick<ControlView, 'caughtUp'>,
  find: () => T | null,
): Promise<T | null> {
  const existing = find();
  if (existing !== null) return existing;
  await view.caughtUp();
  return find();
}
