import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { environmentEntity } from './entity.ts';
import type { Environment } from './environment.ts';

/** By name, without environments that are being deleted. */
export function listEnvironments({ view }: ControlPlane): Environment[] {
  return view
    .list(environmentEntity, [])
    .map(({ state }) => state)
    .filter(({ isDeleting }) => !isDeleting)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function environmentByName({ view }: ControlPlane, name: string): Environment | null {
  return alive(view.findBy(environmentEntity, 'name', name)?.state);
}

/** By the number that the API shows. @throws GatewayError `not_found` naming it */
export async function requireEnvironmentById(
  control: ControlPlane,
  id: number,
): Promise<Environment> {
  const read = (): Environment | null =>
    alive(control.view.findBy(environmentEntity, 'id', String(id))?.state);
  return read() ?? afterCatchUp(control, read, `No environment with the id ${id}.`);
}

async function afterCatchUp(
  control: ControlPlane,
  read: () => Environment | null,
  message: string,
): Promise<Environment> {
  await control.view.caughtUp();
  const found = read();
  if (found === null) throw new GatewayError('not_found', { message });
  return found;
}

const alive = (environment: Environment | null | undefined): Environment | null =>
  environment === null || environment === undefined || environment.isDeleting ? null : environment;
