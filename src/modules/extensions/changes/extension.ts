import { entitiesOfEnvironment } from '#modules/access/environments/dependents.ts';
import type { Extension } from '../extension.ts';
import { startDeliverer } from './deliveries/deliverer.ts';
import { functionSubscriptionsOf } from './deliveries/function-subscriptions.ts';
import { changeRoutes, changesStreamRoute } from './routes.ts';
import { subscriptionEntity } from './subscriptions/entity.ts';
import { subscriptionRoutes } from './subscriptions/routes.ts';

export const changes: Extension = {
  routes: [...changeRoutes, ...subscriptionRoutes],
  streamRoutes: [changesStreamRoute],
  integrationDependents: functionSubscriptionsOf,
  start: startDeliverer,
  environmentDependents: (control) => [
    entitiesOfEnvironment(control, subscriptionEntity, { type: 'Delete' }),
  ],
};
