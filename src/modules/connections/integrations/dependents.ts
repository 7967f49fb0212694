import type { Executed } from '#control-plane/control-plane.ts';
import type { Integration } from './state.ts';

type Named = Pick<Integration, 'environmentUid' | 'uniqueKey'>;

/** What later wings keep of an integration; the composition root has the list. */
export interface IntegrationDependents {
  /** @throws GatewayError `invalid_body` where the integration has to keep its unique key */
  refuseMove(integration: Named): void;
  /** Commands for the owner of the integration that give them its new key. */
  moves(integration: Named, target: string): readonly Executed[];
  /** Commands for the owner of the integration that remove them. */
  removals(integration: Named): readonly Executed[];
}
