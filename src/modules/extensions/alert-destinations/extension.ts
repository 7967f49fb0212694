import { entitiesOfEnvironment } from '#modules/access/environments/dependents.ts';
import type { Extension } from '../extension.ts';
import { alertDestinationEntity } from './entity.ts';
import { alertDestinationRoutes } from './routes.ts';

export const alertDestinations: Extension = {
  routes: alertDestinationRoutes,
  environmentDependents: (control) => [
    entitiesOfEnvironment(control, alertDestinationEntity, { type: 'Delete' }),
  ],
};
