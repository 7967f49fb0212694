import type { ControlPlane } from '../../../control-plane/control-plane.ts';
import type { Environment } from './state.ts';

/** For messages: the name, or the uid of one that this node does not know. */
export function environmentName({ view }: ControlPlane, uid: string): string {
  return view.find<Environment>('environment', [uid])?.name ?? uid;
}
