import type { ExecuteOptions, ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { sealingContext, type Vault } from '#modules/access/vault/vault.ts';
import { variableRef, variableEntity, type VariableEntity } from './entity.ts';

/** @throws GatewayError `resource_capped` */
export async function setVariable(
  { control, vault }: SealedEntities,
  environmentUid: string,
  { name, value }: { readonly name: string; readonly value: string },
  options: ExecuteOptions,
): Promise<void> {
  await vault.ready(environmentUid);
  const context = sealingContext(environmentUid, name, 'variable');
  const body: CommandOf<VariableEntity> = {
    type: 'Set',
    environmentUid,
    name,
    value: vault.seal(environmentUid, value, context),
  };
  const requestHash = vault.fingerprint('request', JSON.stringify([name, value]));
  await control.execute(variableRef(environmentUid, name), body, { requestHash, ...options });
}

/** @throws GatewayError `not_found` */
export async function deleteVariable(
  { control }: { readonly control: ControlPlane },
  environmentUid: string,
  name: string,
  options: ExecuteOptions,
): Promise<void> {
  await control.execute(variableRef(environmentUid, name), { type: 'Delete' }, options);
}

/** The variables decrypted, by name, for functions and `GET /environment-variables`. */
export async function readVariables(
  control: ControlPlane,
  vault: Vault,
  environmentUid: string,
): Promise<{ readonly name: string; readonly value: string }[]> {
  const variables = control.view.list(variableEntity, [environmentUid]);
  if (variables.length === 0) return [];
  await vault.ready(environmentUid);
  return variables.map(({ state: { name, value } }) => {
    const context = sealingContext(environmentUid, name, 'variable');
    return { name, value: vault.open(environmentUid, value, context) };
  });
}
