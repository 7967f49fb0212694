import type { EntityDefinitions } from '#control-plane/entity.ts';
import { accountKeyEntity, apiKeyEntity } from '#modules/access/api-keys/entity.ts';
import { auditChainEntity } from '#modules/access/audit/entity.ts';
import { consoleCodeEntity } from '#modules/access/console-codes/entity.ts';
import { consoleSessionEntity } from '#modules/access/console-sessions/entity.ts';
import { environmentEntity } from '#modules/access/environments/entity.ts';
import { idempotentRequestEntity } from '#modules/access/idempotent-requests/entity.ts';
import { personEntity } from '#modules/access/people/entity.ts';
import { rewrapEntity } from '#modules/access/root-keys/entity.ts';
import { authorizationEntity } from '#modules/connections/authorizations/entity.ts';
import { connectSessionEntity } from '#modules/connections/connect-sessions/entity.ts';
import { connectionEntity } from '#modules/connections/connections/entity.ts';
import { integrationEntity } from '#modules/connections/integrations/entity.ts';
import { revocationEntity } from '#modules/connections/revocations/entity.ts';
import { alertDestinationEntity } from '#modules/extensions/alert-destinations/entity.ts';
import { alertEntity } from '#modules/extensions/alerts/entity.ts';
import { subscriptionEntity } from '#modules/extensions/changes/subscriptions/entity.ts';
import { savedQueryEntity } from '#modules/extensions/sql/saved-queries/entity.ts';
import { typedTopicEntity } from '#modules/extensions/typed-topics/entity.ts';
import { actionRunEntity } from '#modules/functions/actions/entity.ts';
import { checkpointEntity } from '#modules/functions/checkpoints/entity.ts';
import { deploymentEntity } from '#modules/functions/deployments/entity.ts';
import { functionEntity } from '#modules/functions/functions/entity.ts';
import { runQueueEntity } from '#modules/functions/run-queues/entity.ts';
import { syncEntity } from '#modules/functions/syncs/entity.ts';
import { variableEntity } from '#modules/functions/variables/entity.ts';
import { webhookBatchEntity } from '#modules/functions/webhook-batches/entity.ts';
import { consumerGroupEntity } from '#modules/operations/consumer-groups/entity.ts';
import { customProjectionEntity } from '#modules/operations/custom-projections/entity.ts';
import { projectionEntity } from '#modules/operations/projections/entity.ts';
import { webhookEndpointEntity } from '#modules/webhooks/webhook-endpoints/entity.ts';

/** Every entity kind of the control plane. */
export const definitions = {
  environment: environmentEntity,
  'account-key': accountKeyEntity,
  'api-key': apiKeyEntity,
  'console-code': consoleCodeEntity,
  'console-session': consoleSessionEntity,
  person: personEntity,
  variable: variableEntity,
  integration: integrationEntity,
  connection: connectionEntity,
  revocation: revocationEntity,
  'connect-session': connectSessionEntity,
  authorization: authorizationEntity,
  function: functionEntity,
  deployment: deploymentEntity,
  sync: syncEntity,
  'action-run': actionRunEntity,
  'run-queue': runQueueEntity,
  'webhook-batch': webhookBatchEntity,
  checkpoint: checkpointEntity,
  projection: projectionEntity,
  'custom-projection': customProjectionEntity,
  'consumer-group': consumerGroupEntity,
  'typed-topic': typedTopicEntity,
  subscription: subscriptionEntity,
  'saved-query': savedQueryEntity,
  'webhook-endpoint': webhookEndpointEntity,
  'alert-destination': alertDestinationEntity,
  alert: alertEntity,
  rewrap: rewrapEntity,
  'idempotent-request': idempotentRequestEntity,
  'audit-chain': auditChainEntity,
} satisfies EntityDefinitions;
