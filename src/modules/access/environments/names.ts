import type { ControlPlane } from '#control-plane/control-plane.ts';
import { environmentRef } from './entity.ts';

/** For messages: the name, or the uid if this node does not have the environment. */
export function environmentName({ view }: ControlPlane, uid: string): string {
  return view.find(environmentRef(uid))?.name ?? uid;
}
