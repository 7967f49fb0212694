import type { Extension } from '../extension.ts';
import { changeRoutes, changesStreamRoute } from './routes.ts';

export const changes: Extension = {
  routes: changeRoutes,
  streamRoutes: [changesStreamRoute],
};
