import { actionRunEntity } from '../modules/actions/entity.ts';
import { accountKeyEntity, apiKeyEntity } from '../modules/api-keys/entity.ts';
import { auditChainEntity } from '../modules/audit/entity.ts';
import { authorizationEntity } from '../modules/authorizations/entity.ts';
import { checkpointEntity } from '../modules/checkpoints/entity.ts';
import { connectSessionEntity } from '../modules/connect-sessions/entity.ts';
import { connectionEntity } from '../modules/connections/entity.ts';
import { consumerGroupEntity } from '../modules/consumer-groups/entity.ts';
import { deploymentEntity } from '../modules/deployments/entity.ts';
import { environmentEntity } from '../modules/environments/entity.ts';
import { functionEntity } from '../modules/functions/entity.ts';
import { idempotentRequestEntity } from '../modules/idempotent-requests/entity.ts';
import { integrationEntity } from '../modules/integrations/entity.ts';
import { projectionEntity } from '../modules/projections/entity.ts';
import { rewrapEntity } from '../modules/root-keys/entity.ts';
import { syncEntity } from '../modules/syncs/entity.ts';
import { typedTopicEntity } from '../modules/typed-topics/entity.ts';
import { variableEntity } from '../modules/variables/entity.ts';
import { webhookEndpointEntity } from '../modules/webhook-endpoints/entity.ts';
import type { AnyEntityDefinition, EntityKind } from './entity.ts';

/** How owners treat each kind: read this to see what the control plane holds. */
export const definitions: Readonly<Record<EntityKind, AnyEntityDefinition>> = {
  environment: environmentEntity,
  'account-key': accountKeyEntity,
  'api-key': apiKeyEntity,
  variable: variableEntity,
  integration: integrationEntity,
  connection: connectionEntity,
  'connect-session': connectSessionEntity,
  authorization: authorizationEntity,
  function: functionEntity,
  deployment: deploymentEntity,
  sync: syncEntity,
  'action-run': actionRunEntity,
  checkpoint: checkpointEntity,
  projection: projectionEntity,
  'consumer-group': consumerGroupEntity,
  'typed-topic': typedTopicEntity,
  'webhook-endpoint': webhookEndpointEntity,
  rewrap: rewrapEntity,
  'idempotent-request': idempotentRequestEntity,
  'audit-chain': auditChainEntity,
};
