import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { sealingContext } from '#modules/access/vault/vault.ts';
import type { RegisteredClients } from '../credentials/modes/mode.ts';
import { integrationRef } from './entity.ts';
import type { Integration } from './integration.ts';

/** Clients of the integration by authorization server, each sealed under the key of the environment. */
export function registeredClientsOf(
  { control, vault }: SealedEntities,
  integration: Integration,
  { actor }: Pick<ExecuteOptions, 'actor'>,
): RegisteredClients {
  const { environmentUid, uid, uniqueKey } = integration;
  const contextOf = (issuer: string): string =>
    sealingContext(environmentUid, uid, `registered_client.${issuer}`);
  /** The address of a customer's server is no name for a state. */
  const keyOf = (issuer: string): string => vault.fingerprint('registered-client', issuer);
  const sealedIn = ({ registeredClients }: Integration, issuer: string) =>
    registeredClients?.[keyOf(issuer)] ?? null;
  const open = (client: Sealed<JsonObject>, issuer: string): JsonObject =>
    vault.open(environmentUid, client, contextOf(issuer));
  return {
    async find(issuer) {
      const client = sealedIn(integration, issuer);
      await vault.ready(environmentUid);
      return client === null ? null : open(client, issuer);
    },
    async keep(issuer, client) {
      await vault.ready(environmentUid);
      const changed = await control.execute(
        integrationRef(environmentUid, uniqueKey),
        {
          type: 'RegisterClient',
          key: keyOf(issuer),
          client: vault.seal(environmentUid, client, contextOf(issuer)),
          former: sealedIn(integration, issuer),
        },
        { actor },
      );
      const stored = changed === null ? null : sealedIn(changed, issuer);
      if (stored === null) throw new GatewayError('not_found');
      return open(stored, issuer);
    },
  };
}
