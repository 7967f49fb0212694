import { parkTo } from '#modules/operations/dead-letters/park.ts';
import type { Extension } from '../extension.ts';
import { cataloguedTypedTopics } from './catalogue.ts';
import { typedTopicsGroup } from './publishing/shared.ts';
import {
  listTypedTopics,
  typedTopicsOfEnvironments,
  typedTopicsOfIntegrations,
} from './queries.ts';
import { startTypedTopics } from './reactor.ts';
import { typedTopicRoutes } from './routes.ts';

export const typedTopics: Extension = {
  routes: typedTopicRoutes,
  topics: cataloguedTypedTopics,
  environmentDependents: (control) => [typedTopicsOfEnvironments(control)],
  integrationDependents: typedTopicsOfIntegrations,
  topicsOfModel: (control, environmentUid, integrationKey, model) =>
    listTypedTopics(control, environmentUid)
      .filter((topic) => topic.integrationKey === integrationKey && topic.model === model)
      .map(({ address, major }) => `${address}.v${Math.max(major, 1)}`),
  start: (services) =>
    startTypedTopics({
      ...services,
      version: services.settings.version,
      park: parkTo(services.publisher, typedTopicsGroup),
    }),
};
