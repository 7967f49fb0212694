import { mcpRoutes } from '../mcp/routes.ts';
import { actionRoutes } from '../modules/actions/routes.ts';
import { apiKeyRoutes } from '../modules/api-keys/routes.ts';
import { connectPageRoutes } from '../modules/connect-page/routes.ts';
import { deprecatedConnectionRoutes } from '../modules/connections/deprecated-routes.ts';
import { auditRoutes } from '../modules/audit/routes.ts';
import { auditExportRoute } from '../modules/audit/export.ts';
import { authorizationRoutes } from '../modules/authorizations/routes.ts';
import { connectSessionRoutes } from '../modules/connect-sessions/routes.ts';
import { connectionRoutes } from '../modules/connections/routes.ts';
import { consumerGroupRoutes } from '../modules/consumer-groups/routes.ts';
import { deadLetterRoutes } from '../modules/dead-letters/routes.ts';
import { deploymentRoutes } from '../modules/deployments/routes.ts';
import { environmentRoutes } from '../modules/environments/routes.ts';
import { functionRoutes } from '../modules/functions/routes.ts';
import { healthRoutes } from '../modules/health/routes.ts';
import { integrationRoutes } from '../modules/integrations/routes.ts';
import { logRoutes } from '../modules/logs/routes.ts';
import { tailRoute } from '../modules/logs/tail.ts';
import { metricsRoutes } from '../modules/metrics/routes.ts';
import { projectionRoutes } from '../modules/projections/routes.ts';
import { providerRoutes } from '../modules/providers/routes.ts';
import { proxyRoute } from '../modules/proxy/routes.ts';
import { changeFeedRoute } from '../modules/records/change-feed.ts';
import { recordRoutes } from '../modules/records/routes.ts';
import { referenceRoutes } from '../modules/reference/routes.ts';
import { rootKeyRoutes } from '../modules/root-keys/routes.ts';
import { runRoutes } from '../modules/runs/routes.ts';
import { syncRoutes } from '../modules/syncs/routes.ts';
import { topicRoutes } from '../modules/topics/routes.ts';
import { typedTopicRoutes } from '../modules/typed-topics/routes.ts';
import { variableRoutes } from '../modules/variables/routes.ts';
import { webhookEndpointRoutes } from '../modules/webhook-endpoints/routes.ts';
import { webhookRoute } from '../modules/webhooks-in/ingress.ts';
import { webhookDeliveryRoutes } from '../modules/webhooks-in/routes.ts';
import { webhookMessageRoutes } from '../modules/webhooks-out/routes.ts';
import type { AnyRoute } from './define-route.ts';
import type { StreamRoute } from './stream-route.ts';

/** Every endpoint of the API. */
export const routes: readonly AnyRoute[] = [
  ...healthRoutes,
  ...providerRoutes,
  ...integrationRoutes,
  ...connectionRoutes,
  ...deprecatedConnectionRoutes,
  ...connectSessionRoutes,
  ...authorizationRoutes,
  ...environmentRoutes,
  ...apiKeyRoutes,
  ...variableRoutes,
  ...recordRoutes,
  ...functionRoutes,
  ...deploymentRoutes,
  ...syncRoutes,
  ...runRoutes,
  ...actionRoutes,
  ...logRoutes,
  ...auditRoutes,
  ...metricsRoutes,
  ...projectionRoutes,
  ...topicRoutes,
  ...consumerGroupRoutes,
  ...typedTopicRoutes,
  ...deadLetterRoutes,
  ...connectPageRoutes,
  ...rootKeyRoutes,
  ...mcpRoutes,
  ...referenceRoutes(() => ({ routes, streamRoutes })),
  ...webhookEndpointRoutes,
  ...webhookMessageRoutes,
  ...webhookDeliveryRoutes,
];

/** Every endpoint that streams. */
export const streamRoutes: readonly StreamRoute[] = [
  proxyRoute,
  tailRoute,
  auditExportRoute,
  changeFeedRoute,
  webhookRoute,
];
