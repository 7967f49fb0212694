import { entitiesOfEnvironment } from '#modules/access/environments/dependents.ts';
import type { Extension } from '../extension.ts';
import { alertEntity } from './entity.ts';
import { startAlertMonitor } from './monitor.ts';
import { alertRoutes } from './routes.ts';

export const alerts: Extension = {
  routes: alertRoutes,
  environmentDependents: (control) => [
    entitiesOfEnvironment(control, alertEntity, { type: 'Delete' }),
  ],
  start: startAlertMonitor,
};
