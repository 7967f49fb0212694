import type { AnyRoute } from '#http/define-route.ts';
import type { Endpoints, Tag } from '#http/openapi/document.ts';
import type { AnyStreamRoute } from '#http/stream-route.ts';
import { apiKeyRoutes } from '#modules/access/api-keys/routes.ts';
import { auditExportRoute, auditRoutes } from '#modules/access/audit/routes.ts';
import { consoleCodeRoutes } from '#modules/access/console-codes/routes.ts';
import { consoleSessionRoutes } from '#modules/access/console-sessions/routes.ts';
import { environmentRoutes } from '#modules/access/environments/routes.ts';
import { oidcRoutes } from '#modules/access/oidc/routes.ts';
import { peopleRoutes } from '#modules/access/people/routes.ts';
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
import { extensions } from '#modules/extensions/registered.ts';
import { actionRoutes } from '#modules/functions/actions/routes.ts';
import { deploymentRoutes } from '#modules/functions/deployments/routes.ts';
import { functionRoutes } from '#modules/functions/functions/routes.ts';
import { runRoutes, runsTailRoute } from '#modules/functions/runs/ledger/routes.ts';
import { syncRoutes } from '#modules/functions/syncs/routes.ts';
import { templateRoutes } from '#modules/functions/templates/routes.ts';
import { variableRoutes } from '#modules/functions/variables/routes.ts';
import { consumerGroupRoutes } from '#modules/operations/consumer-groups/routes.ts';
import { customProjectionRoutes } from '#modules/operations/custom-projections/routes.ts';
import { deadLetterRoutes } from '#modules/operations/dead-letters/routes.ts';
import { healthRoutes } from '#modules/operations/health/routes.ts';
import { logRoutes, logsTailRoute } from '#modules/operations/logs/routes.ts';
import { metricsRoutes } from '#modules/operations/metrics/routes.ts';
import { projectionRoutes } from '#modules/operations/projections/routes.ts';
import { referenceRoutes } from '#modules/operations/reference/routes.ts';
import { statisticsRoutes } from '#modules/operations/statistics/routes.ts';
import { topicRoutes } from '#modules/operations/topics/routes.ts';
import { proxyRoute } from '#modules/proxy/routes.ts';
import { changeFeedRoute } from '#modules/records/api/change-feed.ts';
import { retentionRoutes, recordRoutes } from '#modules/records/api/routes.ts';
import { webhookEndpointRoutes } from '#modules/webhooks/webhook-endpoints/routes.ts';
import { endpointKeyRoutes } from '#modules/webhooks/webhook-endpoints/signing-key-routes.ts';
import { webhookRoute } from '#modules/webhooks/webhooks-in/ingress.ts';
import { webhookDeliveryRoutes } from '#modules/webhooks/webhooks-in/routes.ts';
import { webhookMessageRoutes } from '#modules/webhooks/webhooks-out/routes.ts';
import { fieldNames } from './field-names.ts';
import { managementRoutes } from './mcp/management/routes.ts';
import { mcpRoutes } from './mcp/routes.ts';

/** The groups of the API reference, one for each noun, in the order in which a reader meets them. */
const tags: readonly Tag[] = [
  {
    name: 'Providers',
    description: 'The catalog of outside APIs: base URL, authentication mode, webhooks.',
    paths: ['/providers', '/images/template-logos/'],
  },
  {
    name: 'Integrations',
    description: 'A provider as one environment uses it, with its client credentials.',
    paths: ['/integrations'],
  },
  {
    name: 'Connect sessions',
    description: 'Short-lived tokens with which an end user creates or renews a connection.',
    paths: ['/connect/session'],
  },
  {
    name: 'Connections',
    description:
      'The access of one end user to one integration: credentials, configuration, metadata. They are refreshed by the gateway.',
    paths: ['/connection'],
  },
  {
    name: 'Authorization',
    description:
      'How a connection comes about: redirects of OAuth and app installations, and forms for credentials. The connect page uses them.',
    paths: ['/oauth/', '/app-auth/', '/oauth2/', '/auth/', '/api-auth/', '/app-store-auth/'],
  },
  {
    name: 'Proxy',
    description: "Requests to the provider's API with the credentials of a connection.",
    paths: ['/proxy/'],
  },
  {
    name: 'Functions',
    description:
      'Code of the application: syncs, actions and on-event functions. Compile and test.',
    paths: ['/scripts/config', '/functions/', '/integrations/{uniqueKey}/functions'],
  },
  {
    name: 'Deployments',
    description: 'Published sets of functions with their versions.',
    paths: ['/functions/deployments'],
  },
  {
    name: 'Syncs',
    description: 'Functions that save records on a schedule, on request or on a webhook.',
    paths: ['/sync/'],
  },
  {
    name: 'Records',
    description:
      'Objects that syncs saved, in the order of their modification, with their history.',
    paths: ['/records'],
  },
  {
    name: 'Changes',
    description: 'Every change of every record of an environment, in order, for data pipelines.',
    paths: ['/changes', '/subscriptions'],
  },
  {
    name: 'SQL',
    description: 'Queries over records, their history, runs, webhooks and requests to providers.',
    paths: ['/sql'],
  },
  {
    name: 'Actions',
    description: 'Functions that run once for a request and return an output.',
    paths: ['/action/'],
  },
  {
    name: 'Runs',
    description: 'Executions of functions, with attempts, log lines and an outcome.',
    paths: ['/runs'],
  },
  {
    name: 'Environment variables',
    description: 'Values that the functions of an environment read.',
    paths: ['/environment-variables'],
  },
  {
    name: 'Webhook endpoints',
    description: 'Addresses of the application to which the gateway delivers webhooks.',
    paths: ['/webhook-endpoints'],
  },
  {
    name: 'Webhook messages',
    description: 'Webhooks to the application with their deliveries; they can be sent again.',
    paths: ['/webhook-messages'],
  },
  {
    name: 'Provider webhooks',
    description:
      'Webhooks that providers send: verified, stored, forwarded, and a reason to run syncs.',
    paths: ['/webhook/', '/webhook-deliveries'],
  },
  {
    name: 'Logs',
    description: 'Operations and their messages, for the users of the application.',
    paths: ['/logs/'],
  },
  {
    name: 'Environments',
    description: 'Separate sets of integrations, connections, functions, records and keys.',
    paths: ['/environments', '/environment/webhook-signing-key'],
  },
  {
    name: 'API keys',
    description: 'Keys of the account and of environments, with their scopes.',
    paths: ['/environment/api-keys', '/account/api-keys'],
  },
  {
    name: 'Console',
    description: 'The web console and its sessions, and the connect page: for browsers.',
    paths: ['/console', '/connect/ui/', '/connect/embed.js'],
  },
  {
    name: 'People',
    description: 'Who signs in to the console, with which roles, and in which browsers.',
    paths: ['/people', '/account/sessions'],
  },
  {
    name: 'Audit',
    description: 'Who did what to which thing, in chains of hashes that show a change.',
    paths: ['/audit'],
  },
  {
    name: 'Alerts',
    description: 'States that need attention, and the destinations that are notified of them.',
    paths: ['/alert'],
  },
  {
    name: 'Topics',
    description: 'The public topics of the event log, their messages and schemas.',
    paths: ['/topics', '/asyncapi.json'],
  },
  {
    name: 'Typed topics',
    description: 'Topics of single models, with change events.',
    paths: ['/typed-topics'],
  },
  {
    name: 'Consumer groups',
    description: 'Positions of the consumers of the service, which an operator can move.',
    paths: ['/consumer-groups'],
  },
  {
    name: 'Dead letters',
    description: 'Messages that could not be processed and were parked.',
    paths: ['/dead-letters'],
  },
  {
    name: 'Projections',
    description: 'Tables derived from the event log, their rebuilds and generations.',
    paths: ['/projections', '/custom-projections'],
  },
  {
    name: 'Root keys',
    description: 'The keys of the operator that wrap all other keys.',
    paths: ['/root-keys'],
  },
  {
    name: 'Operation',
    description: 'Health, metrics and statistics, and the demo provider.',
    paths: ['/health', '/ready', '/metrics', '/statistics', '/demo'],
  },
  {
    name: 'MCP',
    description: 'Actions, and operations of this API, as tools of the Model Context Protocol.',
    paths: ['/mcp'],
  },
  {
    name: 'Reference',
    description: 'This API and its documentation, for programs, people and language models.',
    paths: ['/openapi.json', '/docs', '/llms.txt'],
  },
];

/** Every endpoint of the API. */
export const routes: readonly AnyRoute[] = [
  ...healthRoutes,
  ...providerRoutes,
  ...templateRoutes,
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
  ...peopleRoutes,
  ...oidcRoutes,
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
  ...projectionRoutes,
  ...customProjectionRoutes,
  ...topicRoutes,
  ...consumerGroupRoutes,
  ...deadLetterRoutes,
  ...connectPageRoutes,
  ...rootKeyRoutes,
  ...mcpRoutes,
  ...managementRoutes(() => endpoints),
  ...referenceRoutes(() => endpoints),
  ...webhookEndpointRoutes,
  ...endpointKeyRoutes,
  ...webhookMessageRoutes,
  ...webhookDeliveryRoutes,
  ...extensions.flatMap((one) => one.routes ?? []),
];

/** Every endpoint that streams. */
export const streamRoutes: readonly AnyStreamRoute[] = [
  proxyRoute,
  logsTailRoute,
  runsTailRoute,
  auditExportRoute,
  changeFeedRoute,
  webhookRoute,
  ...extensions.flatMap((one) => one.streamRoutes ?? []),
];

/** With the words that describe them. */
export const endpoints: Endpoints = { routes, streamRoutes, tags, fieldNames };
