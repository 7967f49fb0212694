import type { CommandRequest } from '#control-plane/entity.ts';
import type { Integration } from './integration.ts';

type IntegrationIdentity = Pick<Integration, 'environmentUid' | 'uniqueKey'>;

/** What later wings keep of an integration; the composition root has the list. */
export interface IntegrationDependents {
  /** @throws GatewayError `invalid_body` where the integration has to keep its unique key */
  refuseMove(integration: IntegrationIdentity): void;
  /** Commands for the owner of the integration that give them its new key. */
  moves(integration: IntegrationIdentity, target: string): readonly CommandRequest[];
  /** Commands for the owner of the integration that remove them. */
  removals(integration: IntegrationIdentity): readonly CommandRequest[];
}
