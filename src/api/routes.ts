import type { AnyRoute } from '#http/define-route.ts';
import type { Endpoints } from '#http/openapi/document.ts';
import type { AnyStreamRoute } from '#http/stream-route.ts';
import { apiKeyRoutes } from '#modules/access/api-keys/routes.ts';
import { auditExportRoute, auditRoutes } from '#modules/access/audit/routes.ts';
import { consoleCodeRoutes } from '#modules/access/console-codes/routes.ts';
import { consoleSessionRoutes } from '#modules/access/console-sessions/routes.ts';
import { environmentRoutes } from '#modules/access/environments/routes.ts';
import { rootKeyRoutes } from '#modules/access/root-keys/routes.ts';
import { formRoutes } from '#modules/connections/authorizations/form-routes.ts';
import { redirectRoutes } from '#modules/connections/authorizations/redirect-routes.ts';
import { connectPageRoutes } from '#modules/connections/connect-page/routes.ts';
import { connectSessionRoutes } from '#modules/connections/connect-sessions/routes.ts';
import { deprecatedConnectionRoutes } from '#modules/connections/connections/deprecated-routes.ts';
import { connectionRoutes } from '#modules/connections/connections/routes.ts';
import { exportRoutes } from '#modules/connections/exports/routes.ts';
import { integrationRoutes } from '#modules/connections/integrations/routes.ts';
import { providerRoutes } from '#modules/connections/providers/routes.ts';
import { alertDestinationRoutes } from '#modules/extensions/alert-destinations/routes.ts';
import { alertRoutes } from '#modules/extensions/alerts/routes.ts';
import { consolePageRoutes } from '#modules/extensions/console-page/routes.ts';
import { demoRoutes } from '#modules/extensions/demo/routes.ts';
import { docsSiteRoutes } from '#modules/extensions/docs-site/routes.ts';
import { actionRoutes } from '#modules/functions/actions/routes.ts';
import { deploymentRoutes } from '#modules/functions/deployments/routes.ts';
import { functionRoutes } from '#modules/functions/functions/routes.ts';
import { runRoutes, runsTailRoute } from '#modules/functions/runs/ledger/routes.ts';
import { syncRoutes } from '#modules/functions/syncs/routes.ts';
import { variableRoutes } from '#modules/functions/variables/routes.ts';
import { consumerGroupRoutes } from '#modules/operations/consumer-groups/routes.ts';
import { deadLetterRoutes } from '#modules/operations/dead-letters/routes.ts';
import { healthRoutes } from '#modules/operations/health/routes.ts';
import { logRoutes, logsTailRoute } from '#modules/operations/logs/routes.ts';
import { metricsRoutes } from '#modules/operations/metrics/routes.ts';
import { projectionRoutes } from '#modules/operations/projections/routes.ts';
import { referenceRoutes } from '#modules/operations/reference/routes.ts';
import { statisticsRoutes } from '#modules/operations/statistics/routes.ts';
import { topicRoutes } from '#modules/operations/topics/routes.ts';
import { typedTopicRoutes } from '#modules/operations/typed-topics/routes.ts';
import { proxyRoute } from '#modules/proxy/routes.ts';
import { changeFeedRoute } from '#modules/records/api/change-feed.ts';
import { retentionRoutes, recordRoutes } from '#modules/records/api/routes.ts';
import { webhookEndpointRoutes } from '#modules/webhooks/webhook-endpoints/routes.ts';
import { webhookRoute } from '#modules/webhooks/webhooks-in/ingress.ts';
import { webhookDeliveryRoutes } from '#modules/webhooks/webhooks-in/routes.ts';
import { webhookMessageRoutes } from '#modules/webhooks/webhooks-out/routes.ts';
import { fieldNames } from './field-names.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { tags } from './tags.ts';

/** Every endpoint of the API. */
export const routes: readonly AnyRoute[] = [
  ...healthRoutes,
  ...providerRoutes,
  ...integrationRoutes,
  ...connectionRoutes,
  ...deprecatedConnectionRoutes,
  ...exportRoutes,
  ...connectSessionRoutes,
  ...redirectRoutes,
  ...formRoutes,
  ...environmentRoutes,
  ...retentionRoutes,
  ...apiKeyRoutes,
  ...consoleSessionRoutes,
  ...consoleCodeRoutes,
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
  ...statisticsRoutes,
  ...demoRoutes,
  ...projectionRoutes,
  ...topicRoutes,
  ...consumerGroupRoutes,
  ...typedTopicRoutes,
  ...deadLetterRoutes,
  ...alertDestinationRoutes,
  ...alertRoutes,
  ...connectPageRoutes,
  ...consolePageRoutes,
  ...rootKeyRoutes,
  ...mcpRoutes,
  // Its files are below `/docs/`, of which the site takes the rest.
  ...referenceRoutes(() => endpoints),
  ...docsSiteRoutes,
  ...webhookEndpointRoutes,
  ...webhookMessageRoutes,
  ...webhookDeliveryRoutes,
];

/** Every endpoint that streams. */
export const streamRoutes: readonly AnyStreamRoute[] = [
  proxyRoute,
  logsTailRoute,
  runsTailRoute,
  auditExportRoute,
  changeFeedRoute,
  webhookRoute,
];

/** With the words that describe them. */
export const endpoints: Endpoints = { routes, streamRoutes, tags, fieldNames };
